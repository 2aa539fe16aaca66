/** Bugs in `src/controllers/scheduler`: the queue, waking, roll-back. */
export const schedulerBugs = [
  {
    name: 'a pod whose binding failed is not queued again',
    file: 'src/controllers/scheduler/binding-tasks.ts',
    find: "queue.requeue(attempt, provision === undefined ? 'error' : 'refusal');",
    replace: '',
    seedsMax: 50,
  },
  {
    name: 'pods that leave their node wake no pods',
    file: 'src/controllers/scheduler/scheduler.ts',
    find: "if (change.kind !== 'Pod' || affectsOtherPods(change.before, change.after)) this.#queue.observe(change);",
    replace: "if (change.kind !== 'Pod') this.#queue.observe(change);",
    seedsMax: 50,
  },
  {
    name: 'released capacity wakes no pods',
    file: 'src/controllers/scheduler/scheduler.ts',
    find: 'this.#decider.observe(change);\n    this.#queue.observe(change);',
    replace: 'this.#decider.observe(change);',
    seedsMax: 100,
  },
  {
    name: 'a cached refusal outlives the change that would end it',
    file: 'src/controllers/scheduler/decider.ts',
    find: 'this.#refusals.onChange(change);',
    replace: '',
    seedsMax: 50,
  },
  {
    name: 'a nomination outlives its pod',
    file: 'src/controllers/scheduler/decider.ts',
    find: 'const vacated = this.#nominations.observe((after ?? before)!.key, after);',
    replace: 'const vacated = after === undefined ? undefined : this.#nominations.observe(after.key, after);',
    seedsMax: 200,
  },
  {
    name: 'the mark of a roll-back is never removed',
    file: 'src/controllers/scheduler/rollback.ts',
    find: 'await session.volumeWrites.annotateClaim(marked, { [annotations.rollback]: null }, signal);',
    replace: '',
    seedsMax: 300,
  },
  {
    name: 'a pod that was recreated under its name is not queued',
    file: 'src/controllers/scheduler/queue/scheduling-queue.ts',
    find: 'if (known?.pod.uid === pod.uid) {',
    replace: 'if (known !== undefined) {',
    seedsMax: 200,
  },
];
