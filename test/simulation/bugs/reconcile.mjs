/** Bugs in `src/reconcile` and `src/state`: work queues, informers, leader election, the feed of the index. */
export const reconcileBugs = [
  {
    name: 'a key that was added while it was processed is lost',
    file: 'src/reconcile/work-queue.ts',
    find: 'if (this.#dirty.has(key)) this.#offer(key);\n    this.#notifyIdle();',
    replace: 'this.#dirty.delete(key);\n    this.#notifyIdle();',
    seedsMax: 50,
  },
  {
    name: 'a key that failed is not retried',
    file: 'src/reconcile/workers.ts',
    find: 'options.onError(error, key);\n      queue.retry(key);',
    replace: 'options.onError(error, key);',
    seedsMax: 100,
  },
  {
    name: 'a key that asks to run again does not',
    file: 'src/reconcile/workers.ts',
    find: 'queue.retry(key);\n    return;',
    replace: 'return;',
    seedsMax: 200,
  },
  {
    name: 'an informer misses deletions',
    file: 'src/reconcile/informer/informer.ts',
    find: 'if (old !== undefined) this.#forget(key, this.#project(object));',
    replace: 'if (old !== undefined && isSame(old, object)) this.#forget(key, this.#project(object));',
    seedsMax: 20,
  },
  {
    name: 'an informer keeps objects that a new list lacks',
    file: 'src/reconcile/informer/informer.ts',
    find: 'if (old !== undefined) this.#forget(key, old);\n    }',
    replace: 'void old;\n    }',
    seedsMax: 300,
  },
  {
    name: 'an informer forgets objects that a new list shows unchanged',
    file: 'src/reconcile/informer/informer.ts',
    find: 'this.#store.mark(key);',
    replace: '',
    seedsMax: 100,
  },
  {
    name: 'a watch resumes one version too late',
    file: 'src/reconcile/informer/reflector.ts',
    find: 'if (version !== undefined && this.#version !== undefined) this.#version = version;',
    replace:
      'if (version !== undefined && this.#version !== undefined) this.#version = String(Number(version) + 3);',
    seedsMax: 300,
  },
  {
    name: 'a candidate takes a Lease that has not expired',
    file: 'src/reconcile/leases/leader-election.ts',
    find: 'return this.#clock.monotonicMs() < this.#observedMs + validMs;',
    replace: 'return this.#clock.monotonicMs() < this.#observedMs + validMs / 4;',
    seedsMax: 200,
  },
  {
    name: 'an own write that is older than the cache replaces it',
    file: 'src/state/cluster-feed.ts',
    find: 'if (!isNewer(own, informer.get(key))) return;',
    replace: '',
    seedsMax: 200,
  },
];
