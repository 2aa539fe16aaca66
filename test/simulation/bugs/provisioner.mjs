/** Bugs in `src/controllers/provisioner`: volumes that are leaked, lost or created in the wrong place. */
export const provisionerBugs = [
  {
    name: 'an unknown outcome of the driver counts as a refusal',
    file: 'src/controllers/provisioner/provisioning-steps.ts',
    find: "if (error instanceof CsiError && !signal.aborted) return { kind: 'unknown', error };\n      throw error;",
    replace: "return { kind: 'refused', message: messageOf(error), next: 'move' };",
    seedsMax: 200,
  },
  {
    name: 'the selected node stays when the driver has refused it',
    file: 'src/controllers/provisioner/provisioning-steps.ts',
    find: 'const options = { dropsSelectedNode: isMoved };',
    replace: 'const options = {};',
    seedsMax: 150,
  },
  {
    name: 'the intent is not removed from a claim that has its volume',
    file: 'src/controllers/provisioner/provisioning-steps.ts',
    find: 'this.#delays.forget(keyOf(claim));\n    await this.clear(claim, {}, signal);',
    replace: 'this.#delays.forget(keyOf(claim));',
    seedsMax: 60,
  },
  {
    name: 'a new selected node does not wake the provisioner',
    file: 'src/controllers/provisioner/claim-demand.ts',
    find: 'selectedNodeName(claim),\n    claimClassName(claim),',
    replace: 'claimClassName(claim),',
    seedsMax: 150,
  },
  {
    name: 'a released volume is removed from the cluster and not from the driver',
    file: 'src/controllers/provisioner/volume-reclaim.ts',
    find: 'const waiting = await this.#removeAsset(volume, provisioner, signal);\n    if (waiting !== undefined) return waiting;\n    const ending',
    replace: 'const ending',
    seedsMax: 60,
  },
  {
    name: 'a refused repetition leaves the volume of an earlier attempt behind',
    file: 'src/controllers/provisioner/provisioning-steps.ts',
    find: 'earlier === undefined\n        ? await this.clear(claim, options, signal)\n        : await this.withdraw(claim, earlier, options, signal);',
    replace: 'await this.clear(claim, options, signal);',
    seedsMax: 600,
  },
  {
    name: 'a driver is offered segments whose nodes do not fit the pod',
    file: 'src/controllers/provisioner/csi/topology-requirement.ts',
    find: 'return segments.filter((one) => fitting.some((each) => includesSegment(each, one)));',
    replace: 'return segments;',
    seedsMax: 150,
  },
  {
    name: 'a withdrawn intent leaves its volume behind',
    file: 'src/controllers/provisioner/provisioning-steps.ts',
    find: 'await creator?.delete(assetFor(claim, intent?.record), signal);',
    replace: 'void creator;',
    seedsMax: 600,
  },
];
