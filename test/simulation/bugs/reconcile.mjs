/** Bugs in `src/reconcile` and `src/state`: work queues, informers, leader election, the feed of the index. */
export const reconcileBugs = [
  {
    name: 'writes name the object and not its version',
    file: 'src/kube/patch-preconditions.ts',
    find: ', uid, resourceVersion: version ?? resourceVersion } };',
    replace: ', uid } };',
    seedsMax: 20,
  },
  {
    name: 'a key that was added while it was processed is lost',
    file: 'src/reconcile/work-queue.ts',
    find: 'if (this.#dirty.has(key)) this.#offer(key);\n    this.#notifyIdle();',
    replace: 'this.#dirty.delete(key);\n    this.#notifyIdle();',
    seedsMax: 60,
  },
  {
    name: 'a key that failed is not retried',
    file: 'src/reconcile/workers.ts',
    find: 'options.onError(error, key);\n      queue.retry(key);',
    replace: 'options.onError(error, key);',
    seedsMax: 60,
  },
  {
    name: 'a key that asks to run again does not',
    file: 'src/reconcile/workers.ts',
    find: 'queue.retry(key);\n    return;',
    replace: 'return;',
    seedsMax: 60,
  },
  {
    name: 'an informer misses deletions',
    file: 'src/reconcile/informer/informer.ts',
    find: 'if (old !== undefined) this.#forget(key, this.#project(object));',
    replace: 'if (old !== undefined && isSame(old, object)) this.#forget(key, this.#project(object));',
    seedsMax: 60,
  },
  {
    name: 'an informer keeps objects that a new list lacks',
    file: 'src/reconcile/informer/informer.ts',
    find: 'if (old !== undefined) this.#forget(key, old);\n    }',
    replace: 'void old;\n    }',
    seedsMax: 150,
  },
  {
    name: 'an informer forgets objects that a new list shows unchanged',
    file: 'src/reconcile/informer/informer.ts',
    find: 'this.#store.mark(key);',
    replace: '',
    seedsMax: 100,
  },
  {
    name: 'a candidate takes a Lease that has not expired',
    file: 'src/reconcile/leases/leader-election.ts',
    find: 'return this.#clock.monotonicMs() < this.#observedMs + validMs;',
    replace: 'return this.#clock.monotonicMs() < this.#observedMs + validMs / 4;',
    seedsMax: 100,
  },
  {
    name: 'a watch resumes some versions too late',
    file: 'src/reconcile/informer/reflector.ts',
    find: 'if (version !== undefined && this.#version !== undefined) this.#version = version;',
    replace:
      'if (version !== undefined && this.#version !== undefined) this.#version = String(Number(version) + 12);',
    seedsMax: 100,
  },
];
