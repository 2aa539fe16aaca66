/** Bugs in `src/apiserver`: preconditions, watches, durability. */
export const apiServerBugs = [
  {
    name: 'a watch gets only the last change of a commit',
    file: 'src/apiserver/store/subscribers.ts',
    find: 'if (newChanges.length > 0) subscriber.listener(newChanges);',
    replace: 'if (newChanges.length > 0) subscriber.listener(newChanges.slice(-1));',
    seedsMax: 60,
  },
  {
    name: 'claims get no protection when they are created',
    file: 'src/apiserver/registry/admission/in-use-protection.ts',
    find: "kind: 'PersistentVolumeClaim', finalizer",
    replace: "kind: 'PersistentVolumeClaims', finalizer",
    seedsMax: 150,
  },
];
