/**
 * The prediction is what happens, in random clusters: drives, pools and local disks; StatefulSets, Deployments with any strategy, ReplicaSets, Jobs, bare pods;
 * ephemeral and inline volumes; drains, new nodes and drives, other numbers of replicas, applied files, changed templates. To try more of them, or others:
 *
 *     PLAN_CLUSTERS=5000 PLAN_SEED=mine npx vitest run src/cli/plan/agreement.property.test.ts
 *
 * What it found is fixed (`rollouts.test.ts`). What Kubernetes leaves open is decided: claims and volumes take a while (`testing/slow-volumes.ts`), pods do not back
 * off (`testing/random-workloads.ts`), and of pods that are alike in everything, a ReplicaSet deletes those with the smallest uids.
 *
 * Tried so far: 3269 of seed `sixth`. Six of them disagree:
 * - 1157, 2344, 2742, 2996: no node plugin runs here, so inline volumes have no entry on a drive, and the scheduler may count them on another drive of the node
 *   than the prediction does.
 * - 2330: a StatefulSet that is enlarged and then reduced by the same plan keeps the claims of its former members. Their bytes are predicted as free.
 * - 2656: a Job and a ReplicaSet replace their pods at the same time, and there is room for one. Kubernetes leaves open which one is first.
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
    const { changes, prediction, predicted, actual } = await predictAndMake(workloads);
    expect(predicted, `cluster ${seed} ${at}: ${JSON.stringify(changes)}`).toEqual(actual);
    for (const { outcome } of prediction.fates) outcomes.add(outcome);
  }
  // The clusters must exercise every case, or the test proves little. Of other seeds some batch may lack a case.
  if (process.env.PLAN_CLUSTERS === undefined)
    expect([...outcomes]).toEqual(expect.arrayContaining(['moved', 'stranded', 'placed']));
});
