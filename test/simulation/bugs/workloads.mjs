/** Bugs in `src/controllers/workloads`: StatefulSets, the simulated kubelets, the garbage collector. */
export const workloadBugs = [
  {
    name: 'a StatefulSet skips its first ordinal',
    file: 'src/engine/workloads/stateful-set-plan.ts',
    find: 'let ordinal = startOrdinalOf(set);',
    replace: 'let ordinal = startOrdinalOf(set) + 1;',
    seedsMax: 60,
  },
  {
    name: 'a StatefulSet deletes claims when it is scaled down',
    file: 'src/engine/workloads/stateful-set-claims.ts',
    find: "return policyOf(set).whenScaled === 'Delete' && !isInRange(set, ordinalOf(pod) ?? -1);",
    replace: 'return !isInRange(set, ordinalOf(pod) ?? -1);',
    seedsMax: 60,
  },
  {
    name: 'a pod runs without the mark that its claims are mounted',
    file: 'src/controllers/workloads/node-agent/pod-runner.ts',
    find: '() => this.#annotateClaims(pod, mounts, signal)',
    replace: 'async () => {}',
    seedsMax: 60,
  },
  {
    name: 'a pod runs before its claim is bound',
    file: 'src/controllers/workloads/node-agent/mounts/mount-check.ts',
    find: "if (status?.phase !== 'Bound') return 'PVC is not bound';",
    replace: '',
    seedsMax: 60,
  },
  {
    name: 'a pod that was deleted before it ran is never removed',
    file: 'src/controllers/workloads/node-agent/pods/pod-lifecycle.ts',
    find: "return graceSeconds === 0 ? { kind: 'nothing' } : { kind: 'remove' };",
    replace: "return isRunning ? { kind: 'remove' } : { kind: 'nothing' };",
    seedsMax: 60,
  },
  {
    name: 'the pods of a deleted node are never removed',
    file: 'src/controllers/workloads/node-agent/pod-runner.ts',
    find: 'if (this.#caches.nodes.get(nodeName) === undefined) return await this.#collector.collectLost(pod, signal);',
    replace: '',
    seedsMax: 150,
  },
  {
    name: 'the garbage collector keeps the dependents of a deleted owner',
    file: 'src/controllers/workloads/garbage-collector.ts',
    find: '#onDeleted(cached: CachedObject): void {\n    this.#enqueueDependents(cached.metadata);',
    replace: '#onDeleted(cached: CachedObject): void {',
    seedsMax: 60,
  },
  {
    name: 'a pod starts with an attachment whose deletion may still arrive',
    file: 'src/controllers/workloads/node-agent/node-reconciler.ts',
    find: 'this.#caches.attached.deletionRequested(attachment);',
    replace: '',
    seedsMax: 300,
  },
];
