import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { stowageProfile } from '../../../engine/cluster-index/profile.ts';
import type { WhatIfChange } from '../../../engine/what-if/change.ts';
import { predict } from '../../../engine/what-if/predict.ts';
import type { Prediction } from '../../../engine/what-if/prediction.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { isFinished } from '../../../kube/pods.ts';
import { pods } from '../../../kube/resources.ts';
import { loadCluster } from '../../source/load-cluster.ts';
import { highPriority } from './random-pods.ts';
import type { RandomWorkloads } from './random-workloads.ts';

/** The prediction and the real outcome: `POD on NODE`, and `VOLUME to DRIVE` for copies from drained drives. */
export interface Agreement {
  readonly changes: readonly WhatIfChange[];
  readonly prediction: Prediction;
  readonly predicted: readonly string[];
  readonly actual: readonly string[];
  /** False if controllers still created pods when the changes were made, or long afterwards. */
  readonly isAtRest: boolean;
}

/** Pods that are replaced because others have evicted them are created at least as often. */
const restMs = 3_000;

/** Predicts random changes of the cluster, and makes them. */
export async function predictAndMake(workloads: RandomWorkloads): Promise<Agreement> {
  const { cluster, environment } = workloads.fixture;
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const { snapshot } = await loadCluster(cluster, { namespace }, options);
  const nowMs = environment.clock.nowMs();
  const changes = workloads.changes();
  const known = workloads.createdPods.length;
  const wasAtRest = isAtRest(workloads);
  const nameIn = namesFor(changes, snapshot.values('Pod'));
  await workloads.real.make(changes);
  const { items } = await cluster.resource(pods).list();
  const { index } = snapshot.toIndex(stowageProfile);
  const prediction = predict(changes, index, snapshot, {
    nowMs,
    priorityClasses: [highPriority],
    uidOf: uidsOf(workloads.createdPods.slice(known)),
  });
  const copies = prediction.copies.filter(({ from }) => from.startsWith('drive/'));
  return {
    changes,
    prediction,
    predicted: [
      ...placesPredicted(snapshot.values('Pod'), prediction, nameIn),
      ...copies.map(copyText),
    ].sort(),
    isAtRest: wasAtRest && isAtRest(workloads),
    actual: [...items.flatMap((pod) => placeOf(pod, nameIn)), ...workloads.real.copies.map(copyText)].sort(),
  };
}

function isAtRest({ createdPods, fixture }: RandomWorkloads): boolean {
  const { creationTimestamp = '' } = createdPods.at(-1)?.metadata ?? {};
  return (
    creationTimestamp === '' || fixture.environment.clock.nowMs() - Date.parse(creationTimestamp) >= restMs
  );
}

function copyText({ volume, to }: { readonly volume: string; readonly to: string | undefined }): string {
  return `${volume} to ${to}`;
}

/** How a pod of this name and owner is called here. */
type PodNames = (name: string, owner: string) => string;

function placeOf(pod: Pod, nameIn: PodNames): readonly string[] {
  if (isFinished(pod) || ownerOf(pod).startsWith('DaemonSet/')) return [];
  return [`${nameIn(pod.metadata!.name!, ownerOf(pod))} on ${pod.spec?.nodeName ?? 'no node'}`];
}

/**
 * Pods with random names are known by their controller; so are members that wait while nodes or drives are added. That is a burst of events, each of which may wake
 * all of them, and none of which helps before the last. Of pods that one event wakes, the scheduler tries the one first that it has refused first, as
 * kube-scheduler does: the order depends on which of them it has refused again before the next event comes.
 */
function namesFor(changes: readonly WhatIfChange[], before: Iterable<Pod>): PodNames {
  const waiting = new Set<string>();
  if (changes.some(({ kind }) => kind === 'add-nodes' || kind === 'add-drive'))
    for (const { metadata, spec } of before) if (!spec?.nodeName) waiting.add(metadata!.name!);
  return (name, owner) =>
    isAnonymous(owner) || (waiting.has(name) && owner.startsWith('StatefulSet/'))
      ? withoutHash(owner)
      : `${namespace}/${name}`;
}

/** Pods of these owners have random names. */
function isAnonymous(owner: string): boolean {
  return /^(ReplicaSet|Job)\//.test(owner);
}

/** The ReplicaSet of a Deployment counts as one with the name of the Deployment: the hash of the template is not predicted. No other name has a dash. */
function withoutHash(owner: string): string {
  return owner.replace(/-.*$/, '');
}

function placesPredicted(
  before: Iterable<Pod>,
  { outcomes }: Prediction,
  nameIn: PodNames,
): readonly string[] {
  const affected = new Set(outcomes.map(({ pod }) => pod));
  const kept = [...before].filter(({ metadata }) => !affected.has(`${namespace}/${metadata!.name}`));
  const moved = outcomes
    .filter(
      ({ outcome, owner }) => outcome !== 'lost' && outcome !== 'removed' && !owner.startsWith('Daemon'),
    )
    .filter(({ why }) => !why?.message.includes('OrderedReady'))
    .map(({ pod, owner, to }) => `${nameIn(pod.slice(namespace.length + 1), owner)} on ${to ?? 'no node'}`);
  return [...kept.flatMap((pod) => placeOf(pod, nameIn)), ...moved];
}

function ownerOf({ metadata }: Pod): string {
  const [owner] = metadata?.ownerReferences ?? [];
  return owner === undefined ? '' : withoutHash(`${owner.kind}/${owner.name}`);
}

/** The uids that the API server gave to new pods: ties are broken by them, and no prediction can know them. */
function uidsOf(created: readonly Pod[]): (pod: Pod) => string {
  const left = [...created];
  return (pod) => {
    const at = left.findIndex((other) =>
      isAnonymous(ownerOf(pod))
        ? ownerOf(other) === ownerOf(pod)
        : other.metadata?.name === pod.metadata?.name,
    );
    return at < 0 ? 'unknown' : left.splice(at, 1)[0]!.metadata!.uid!;
  };
}
