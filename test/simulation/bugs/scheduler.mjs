/** Bugs in `src/controllers/scheduler`: the queue, waking, roll-back. */
export const schedulerBugs = [
  {
    name: 'a pod whose binding failed is not queued again',
    file: 'src/controllers/scheduler/binding-tasks.ts',
    find: "queue.requeue(attempt, provision === undefined ? 'error' : 'refusal');",
    replace: '',
    seedsMax: 60,
  },
  {
    name: 'pods that leave their node wake no pods',
    file: 'src/controllers/scheduler/scheduler.ts',
    find: "if (change.kind !== 'Pod' || affectsOtherPods(change.before, change.after)) this.#queue.observe(change);",
    replace: "if (change.kind !== 'Pod') this.#queue.observe(change);",
    seedsMax: 150,
  },
  {
    name: 'capacity that becomes free without an event wakes no pods',
    file: 'src/controllers/scheduler/scheduler.ts',
    find: 'this.#decider.observe(change);\n    this.#queue.observe(change);',
    replace: 'this.#decider.observe(change);',
    seedsMax: 400,
  },
  {
    name: 'a nomination outlives its pod',
    file: 'src/controllers/scheduler/nominations.ts',
    find: "if (nominatedNode === '') this.#pods.delete(key);",
    replace:
      "if (nominatedNode === '') {\n      if (pod !== undefined && !pod.isDeleting) this.#pods.delete(key);\n    }",
    seedsMax: 150,
  },
  {
    name: 'a cached refusal outlives the change that would end it',
    file: 'src/controllers/scheduler/decider.ts',
    find: 'this.#refusals.onChange(change);\n    if (change.kind',
    replace: 'if (change.kind',
    seedsMax: 60,
  },
];
