/** Bugs in the engine: what is promised, and who is woken when it becomes free. */
export const capacityBugs = [
  {
    name: 'bytes in flight are forgotten',
    file: 'src/engine/ledger/ledger.ts',
    find: 'this.#index.setPromise(id, { ...promised, reservations: promised.reservations + 1 });',
    replace: '',
    seedsMax: 150,
  },
  {
    name: 'promised bytes are not subtracted from the figure of the pool',
    file: 'src/engine/cluster-index/pools/pool-table.ts',
    find: 'const taken = this.promisedTotal(this.#records[promisedRow]!.key);',
    replace: 'const taken = zeroSize;',
    seedsMax: 150,
  },
  {
    name: 'a promise is counted twice',
    file: 'src/engine/cluster-index/pools/promised-bytes.ts',
    find: 'this.#sums.set(poolKey, addSizes(this.#sums.get(poolKey) ?? zeroSize, size));',
    replace: 'this.#sums.set(poolKey, addSizes(addSizes(this.#sums.get(poolKey) ?? zeroSize, size), size));',
    seedsMax: 60,
  },
  {
    name: 'the pods of other bindings in flight are not counted on a node',
    file: 'src/engine/ledger/ledger.ts',
    find: 'this.#index.setAssumedPod(pod.key, { ...pod, nodeName: node });',
    replace: '',
    seedsMax: 60,
  },
  {
    name: 'a new volume wakes no pods',
    file: 'src/engine/rules/volume-binding/wakes.ts',
    find: 'wantsVolume(interest, change.after) ||',
    replace: '',
    seedsMax: 60,
  },
  {
    name: 'a volume that is too small is chosen',
    file: 'src/engine/rules/volume-binding/static-choice.ts',
    find: 'lists.lowerBound(list, request.size.bytes, slot)',
    replace: 'lists.lowerBound(list, 0, slot)',
    seedsMax: 60,
  },
  {
    name: 'a promise stays when its provisioner has refused',
    file: 'src/engine/cluster-index/pools/claim-promises.ts',
    find: 'this.#index.setPromise(key, promiseIfNeeded({ ...promised, isStored: false }));',
    replace: '',
    seedsMax: 400,
  },
  {
    name: 'a pool that grows wakes no pods',
    file: 'src/engine/rules/volume-binding/wakes.ts',
    find: 'return gainingPools(change, index.pools).some((pool) => mayServe(interest, pool, index));',
    replace: 'return false;',
    seedsMax: 20,
  },
];
