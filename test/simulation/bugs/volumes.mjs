/** Bugs in `src/controllers/volumes`: the PV binder and the protection of what is in use. */
export const volumeBugs = [
  {
    name: 'the PV binder writes volumes without a version',
    file: 'src/controllers/volumes/pv-binder/binder-writes.ts',
    find: 'body: withPreconditions(volume, change) }',
    replace: 'body: change }',
    seedsMax: 20,
  },
  {
    name: 'the PV binder writes claims without a version',
    file: 'src/controllers/volumes/pv-binder/binder-writes.ts',
    find: 'body: withPreconditions(claim, change) }',
    replace: 'body: change }',
    seedsMax: 20,
  },
  {
    name: 'a deleted claim does not wake its volume',
    file: 'src/controllers/volumes/pv-binder/woken-keys.ts',
    find: 'return [...own, ...[...named, ...reserved].map(volumeKey)];',
    replace: 'return own;',
    seedsMax: 60,
  },
  {
    name: 'a new claimRef does not wake its claim',
    file: 'src/controllers/volumes/pv-binder/woken-keys.ts',
    find: 'if (claim !== undefined && !claim.isBound) keys.push(claimKey(claim.key));',
    replace: '',
    seedsMax: 150,
  },
  {
    name: 'the PV binder names a volume in its claim before the volume is locked',
    file: 'src/controllers/volumes/pv-binder/binder-writes.ts',
    find: 'const locked = await this.volume(volume, volumeBindingPatch(volume, claim));',
    replace: 'const locked = volume;',
    seedsMax: 60,
  },
  {
    name: 'the protection of a claim ends while a pod uses it',
    file: 'src/controllers/volumes/protection.ts',
    find: 'if (items.some((pod) => uses(pod, name))) return;',
    replace: '',
    seedsMax: 150,
  },
  {
    name: 'the protection of a volume ends while it is bound',
    file: 'src/controllers/volumes/protection.ts',
    find: 'if (isBound(volume)) return;',
    replace: '',
    seedsMax: 150,
  },
  {
    name: 'the protection of a claim never ends',
    file: 'src/controllers/volumes/protection.ts',
    find: 'this.#pods.addHandler({ updated: pod, deleted: pod }),',
    replace: '',
    seedsMax: 150,
  },
];
