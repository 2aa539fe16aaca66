/** Bugs in `src/bind`: how a placement is written, and undone. */
export const bindingBugs = [
  {
    name: 'a claimRef is written without a version',
    file: 'src/bind/volume-writes.ts',
    find: 'body: withPreconditions(volume, change, version) }',
    replace: 'body: change }',
    seedsMax: 20,
  },
  {
    name: 'a volume that is being provisioned counts as bound',
    file: 'src/engine/ledger/binding-progress.ts',
    find: 'return volume === undefined ? waiting : reachProgress(index, volume.key, nodeName);',
    replace: 'return volume === undefined ? bound : reachProgress(index, volume.key, nodeName);',
    seedsMax: 60,
  },
  {
    name: 'a failed binding does not revert its reservation',
    file: 'src/bind/binding-session.ts',
    find: 'this.revert(reservation);\n      throw error;',
    replace: 'throw error;',
    seedsMax: 60,
  },
  {
    name: 'the binding of a pod carries no version',
    file: 'src/bind/pod-node-write.ts',
    find: '...(version !== undefined && { resourceVersion: version }),',
    replace: '',
    seedsMax: 20,
  },
  {
    name: 'claims that were bound before are not checked when the pod gets its node',
    file: 'src/bind/pod-binder.ts',
    find: 'for (const claim of boundClaims) {',
    replace: 'for (const claim of boundClaims.slice(boundClaims.length)) {',
    seedsMax: 700,
  },
  {
    name: 'a binding without a response may still take effect when it is abandoned',
    file: 'src/bind/pod-node-write.ts',
    find: 'this.#unanswered !== undefined && (await this.#supersede(this.#unanswered, error, signal));',
    replace: 'false;',
    seedsMax: 1500,
  },
  {
    name: 'a selected node without a response may still take effect when it is abandoned',
    file: 'src/bind/volume-writes.ts',
    find: 'if (!isRefusal(error)) unanswered = version;',
    replace: '',
    seedsMax: 600,
  },
];
