/** Bugs in `src/controllers/capacity` and `src/controllers/attacher`: figures that are wrong, and volumes that are not where they should be. */
export const driverBugs = [
  {
    name: 'a figure carries a time after its measurement',
    file: 'src/controllers/capacity/measured-figure.ts',
    find: 'return { measuredAtMs, freeBytes: reply.availableCapacity,',
    replace: 'return { measuredAtMs: Math.floor(clock.nowMs()), freeBytes: reply.availableCapacity,',
    seedsMax: 20,
  },
  {
    name: 'a publisher treats the figures of others as its own',
    file: 'src/controllers/capacity/capacity-objects.ts',
    find: 'const labelSelector = Object.entries(this.#labels)',
    replace: 'const labelSelector = Object.entries(this.#labels).slice(0, 1)',
    seedsMax: 20,
  },
  {
    name: 'figures are written without a version',
    file: 'src/controllers/capacity/capacity-objects.ts',
    find: 'const body = withPreconditions(object, change);',
    replace: 'const body = change;',
    seedsMax: 20,
  },
  {
    name: 'a figure of the same amount is not published after a volume was created',
    file: 'src/controllers/capacity/figure-publication.ts',
    find: 'return isLateEnough || figure.measuredAtMs <= requiredMs;',
    replace: 'return true;',
    seedsMax: 60,
  },
  {
    name: 'the figures of a deleted node stay',
    file: 'src/controllers/capacity/figure-publication.ts',
    find: 'for (const store of Object.values(stores)) await store.remove(figureKey, signal);\n    figures.forget(figureKey);',
    replace: 'figures.forget(figureKey);',
    seedsMax: 60,
  },
  {
    name: 'an attachment counts as attached before the driver has attached the volume',
    file: 'src/controllers/attacher/attachments.ts',
    find: "const { publishContext } = await driver.call('ControllerPublishVolume', request, options);",
    replace: 'const publishContext = {};\n      void options;',
    seedsMax: 60,
  },
  {
    name: 'an attachment is removed and its volume stays attached',
    file: 'src/controllers/attacher/attachments.ts',
    find: "await driver.call('ControllerUnpublishVolume', request, this.#callOptions(signal));",
    replace: 'void request;',
    seedsMax: 60,
  },
  {
    name: 'a deleted attachment does not wake the attacher',
    file: 'src/controllers/attacher/decide-attachment.ts',
    find: 'return relevantText(attachment) !== relevantText(old);',
    replace: 'return attachment.metadata?.uid !== old.metadata?.uid;',
    seedsMax: 100,
  },
];
