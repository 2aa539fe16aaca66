/**
 * The prediction is what happens, in random clusters: drives, pools and local disks; StatefulSets, Deployments with any strategy, ReplicaSets, Jobs, bare pods;
 * ephemeral and inline volumes; drains, new nodes and drives, other numbers of replicas, applied files, changed templates. To try more of them, or others:
 *
 *     PLAN_CLUSTERS=5000 PLAN_SEED=mine npx vitest run src/cli/plan/agreement.property.test.ts
 *
 * The bugs that it found are fixed (`rollouts.test.ts`, `volumes.test.ts`, `engine/preemption/nominated-volumes.test.ts`). Where Kubernetes leaves an order open, the test fixes it: claims and
 * volumes take a while (`testing/slow-creations.ts`, `testing/drive-node-plugins.ts`), pods do not back off (`testing/random-workloads.ts`), Jobs replace pods after
 * ReplicaSets (`testing/job-pods.ts`), and of pods that are alike in everything, a ReplicaSet deletes those with the smallest uids. Members of a StatefulSet that
 * wait while nodes or drives are added are not distinguished (`testing/agreement.ts`). The test fails if the cluster does not become stable.
 *
 * Tried so far, all agree: 1500 of seed `eighth` and 1600 of seed `ninth`; and those that disagreed or did not become stable when 4500 of seed `seventh` were tried
 * with earlier code (940, 1469, 1875, 2405, 2923, 3488). Another 1300 of `eighth` and 3300 of seed `sixth` were tried with earlier code only.
 */
import { expect, test } from 'vitest';
import { predictAndMake } from './testing/agreement.ts';
import { RandomWorkloads } from './testing/random-workloads.ts';

const clusters = Number(process.env.PLAN_CLUSTERS ?? 8);
const seed = process.env.PLAN_SEED ?? 'four';
const clustersPerTest = 20;

const starts = Array.from({ length: Math.ceil(clusters / clustersPerTest) }, (_, at) => at * clustersPerTest);

test.each(starts)('the prediction is what happens, in clusters from %s', async (start) => {
  const outcomes = new Set<string>();
  for (let at = start; at < Math.min(start + clustersPerTest, clusters); at += 1) {
    await using workloads = await RandomWorkloads.start(`${seed} ${at}`);
    const { changes, prediction, predicted, actual, isAtRest } = await predictAndMake(workloads);
    const about = `cluster ${seed} ${at}: ${JSON.stringify(changes)}`;
    expect(isAtRest, `${about}: controllers still create pods`).toBe(true);
    expect(predicted, about).toEqual(actual);
    for (const { outcome } of prediction.outcomes) outcomes.add(outcome);
  }
  // The clusters must exercise every case, or the test proves little. Of other seeds some batch may lack a case.
  if (process.env.PLAN_CLUSTERS === undefined)
    expect([...outcomes]).toEqual(expect.arrayContaining(['moved', 'stranded', 'placed']));
});
