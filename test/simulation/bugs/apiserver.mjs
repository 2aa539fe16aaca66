/** Bugs in `src/apiserver`: preconditions, watches, durability. */
export const apiServerBugs = [
  {
    name: 'the server does not compare the version of an update',
    file: 'src/apiserver/registry/writes/update.ts',
    find: '} else if (given !== old.metadata.resourceVersion) {',
    replace: '} else if (given > (old.metadata.resourceVersion ?? "")) {',
    seedsMax: 300,
  },
  {
    name: 'the server ignores the preconditions of a deletion',
    file: 'src/apiserver/registry/deletion/delete.ts',
    find: 'check(storageKind(context, kind), old, request);',
    replace: 'void check;',
    seedsMax: 300,
  },
  {
    name: 'the server binds a pod that has a node',
    file: 'src/apiserver/registry/subresources/binding.ts',
    find: "if ((spec?.nodeName ?? '') !== '') {",
    replace: "if ((spec?.nodeName ?? '') === 'none') {",
    seedsMax: 300,
  },
  {
    name: 'a watch gets only the last change of a commit',
    file: 'src/apiserver/store/subscribers.ts',
    find: 'if (newChanges.length > 0) subscriber.listener(newChanges);',
    replace: 'if (newChanges.length > 0) subscriber.listener(newChanges.slice(-1));',
    seedsMax: 100,
  },
  {
    name: 'the server answers before a write is durable',
    file: 'src/apiserver/registry/context/registry-context.ts',
    find: 'await context.store.whenDurable(entry.revision);\n  return snapshotOf(context, kind, entry);',
    replace: 'return snapshotOf(context, kind, entry);',
    seedsMax: 200,
  },
  {
    name: 'claims get no protection when they are created',
    file: 'src/apiserver/registry/admission/in-use-protection.ts',
    find: "kind: 'PersistentVolumeClaim', finalizer",
    replace: "kind: 'PersistentVolumeClaims', finalizer",
    seedsMax: 100,
  },
  {
    name: 'an object is removed although a finalizer holds it',
    file: 'src/apiserver/registry/writes/update.ts',
    find: 'if ((object.metadata.finalizers ?? []).length > 0 || old.deletionTimestamp === undefined) return false;',
    replace:
      'if ((object.metadata.finalizers ?? []).length > 1 || old.deletionTimestamp === undefined) return false;',
    seedsMax: 100,
  },
];
