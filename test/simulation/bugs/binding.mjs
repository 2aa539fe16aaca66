/** Bugs in `src/bind`: how a placement is written, and undone. */
export const bindingBugs = [
  {
    name: 'a claimRef is written without a version',
    file: 'src/bind/volume-writes.ts',
    find: 'body: withPreconditions(volume, change, version) }',
    replace: 'body: change }',
    seedsMax: 300,
  },
  {
    name: 'the pod is bound before its volumes exist',
    file: 'src/bind/pod-binder.ts',
    find: 'if (isBound) return;',
    replace: 'return;',
    seedsMax: 20,
  },
  {
    name: 'a failed binding does not revert its reservation',
    file: 'src/bind/binding-session.ts',
    find: 'this.revert(reservation);\n      throw error;',
    replace: 'throw error;',
    seedsMax: 50,
  },
  {
    name: 'a reverted reservation wakes no pods',
    file: 'src/bind/binding-session.ts',
    find: 'released.filter((change) => change !== undefined),',
    replace: '[],',
    seedsMax: 100,
  },
  {
    name: 'a claimRef is withdrawn whatever the phase of the volume',
    file: 'src/bind/volume-writes.ts',
    find: "return volume.status?.phase === 'Available' && !isNamed && !isMounted;",
    replace: 'return true;',
    seedsMax: 300,
  },
  {
    name: 'a conflict on a volume is retried whatever has changed',
    file: 'src/bind/write-state.ts',
    find: 'const isSame = isSameObject(live, known) && live?.status?.phase === known.status?.phase;',
    replace: 'const isSame = live !== undefined;',
    seedsMax: 300,
  },
  {
    name: 'the binding of a pod does not carry its uid',
    file: 'src/bind/pod-scheduling-writes.ts',
    find: ', ...(uid !== undefined && { uid }) },',
    replace: ' },',
    seedsMax: 300,
  },
];
