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
  {
    name: 'the server does not compare the version of an update',
    file: 'src/apiserver/registry/writes/update.ts',
    find: '} else if (given !== old.metadata.resourceVersion) {',
    replace: '} else if (given > (old.metadata.resourceVersion ?? "")) {',
    seedsMax: 20,
  },
  {
    name: 'an object is removed although a finalizer holds it',
    file: 'src/apiserver/registry/writes/update.ts',
    find: 'if ((object.metadata.finalizers ?? []).length > 0 || old.deletionTimestamp === undefined) return false;',
    replace:
      'if ((object.metadata.finalizers ?? []).length > 1 || old.deletionTimestamp === undefined) return false;',
    seedsMax: 60,
  },
];
