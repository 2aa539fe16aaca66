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

/** What was predicted, and what has happened: `POD on NODE`, and `VOLUME to DRIVE` for copies from drained drives. */
export interface Agreement {
  readonly changes: readonly WhatIfChange[];
  readonly prediction: Prediction;
  readonly predicted: readonly string[];
  readonly actual: readonly string[];
}

/** Predicts random changes of the cluster, and makes them. */
export async function predictAndMake(workloads: RandomWorkloads): Promise<Agreement> {
  const { cluster, environment } = workloads.fixture;
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const { snapshot } = await loadCluster(cluster, { namespace }, options);
  const nowMs = environment.clock.nowMs();
  const changes = workloads.changes();
  const known = workloads.createdPods.length;
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
    predicted: [...placesPredicted(snapshot.values('Pod'), prediction), ...copies.map(copyText)].sort(),
    actual: [...items.flatMap(placeOf), ...workloads.real.copies.map(copyText)].sort(),
  };
}

function copyText({ volume, to }: { readonly volume: string; readonly to: string | undefined }): string {
  return `${volume} to ${to}`;
}

/** Pods with random names are known by their controller. */
function placeOf(pod: Pod): readonly string[] {
  if (isFinished(pod) || ownerOf(pod).startsWith('DaemonSet/')) return [];
  return [placeText(`${namespace}/${pod.metadata!.name}`, ownerOf(pod), pod.spec?.nodeName)];
}

function placeText(pod: string, owner: string, node: string | undefined): string {
  return `${isAnonymous(owner) ? withoutHash(owner) : pod} on ${node ?? 'no node'}`;
}

/** Pods of these owners have random names. */
function isAnonymous(owner: string): boolean {
  return /^(ReplicaSet|Job)\//.test(owner);
}

/** The ReplicaSet of a Deployment counts as one with the name of the Deployment: the hash of the template is not predicted. No other name has a dash. */
function withoutHash(owner: string): string {
  return owner.replace(/-.*$/, '');
}

function placesPredicted(before: Iterable<Pod>, { fates }: Prediction): readonly string[] {
  const affected = new Set(fates.map(({ pod }) => pod));
  const kept = [...before].filter(({ metadata }) => !affected.has(`${namespace}/${metadata!.name}`));
  const moved = fates
    .filter(
      ({ outcome, owner }) => outcome !== 'lost' && outcome !== 'removed' && !owner.startsWith('Daemon'),
    )
    .filter(({ why }) => !why?.message.includes('OrderedReady'))
    .map(({ pod, owner, to }) => placeText(pod, owner, to));
  return [...kept.flatMap(placeOf), ...moved];
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
