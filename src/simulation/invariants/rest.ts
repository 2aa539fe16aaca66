import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { planWithNominated } from '../../engine/preemption/plan-with-nominated.ts';
import { type PodRecord, readPod } from '../../engine/records/pod-record.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { Resource } from '../../kube/resource.ts';
import { pods } from '../../kube/resources.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { everyKind, kindResources } from '../../state/kind-resources.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

export const nothingKeepsWriting: Invariant = {
  name: 'when faults have stopped, the system settles, and nothing keeps writing',
  atRest: (_, { lateVersions }) =>
    lateVersions.length === 0 ? [] : [`${lateVersions.length} late versions, first ${lateVersions[0]}`],
};

export const writesNameTheirVersion: Invariant = {
  name: 'every write of a volume, claim, capacity report or drive, and every binding of a pod, names the version that it replaces',
  atRest: (_, { unversioned }) => unversioned.slice(0, 1),
};

export const nothingFails: Invariant = {
  name: 'nothing fails except by a fault, and sweeps find no work that an event should have caused',
  atRest: (_, { crashes, rescued }) => [...crashes, ...rescued],
};

/** A pending pod that the engine would place on the stored state has no wake-up path, or lost its turn. */
export const whatFitsIsPlaced: Invariant = {
  name: 'when the system is at rest, every pod that fits has a node',
  atRest: (state, { nowMs }) => podsThatFit(state, nowMs),
};

/** The scheduler tries every pod again after some minutes. That must never be necessary: each pod waits for the events that help it. */
export const eventsWakePods: Invariant = {
  name: 'a pod that fits gets its node because of an event, and not only by the periodic retry',
  beforeSweeps: podsThatFit,
};

function podsThatFit(state: StoredObjects, nowMs: number): readonly string[] {
  const all = [...state.values(pods)];
  const pending = all.filter(
    ({ metadata, spec }) => (spec?.nodeName ?? '') === '' && metadata?.deletionTimestamp === undefined,
  );
  // Most of the work is the index.
  if (pending.length === 0) return [];
  const { index } = snapshotOf(state).toIndex(stowageProfile);
  const nominated = waitingForVictims(pending, all);
  return pending.flatMap((pod) => {
    const decision = planWithNominated(pod, index, { nowMs, rules: defaultRules, nominated });
    return decision.kind === 'placement'
      ? [`pod ${pod.metadata?.name} is pending and fits on ${decision.node}`]
      : [];
  });
}

/** Their nodes belong to them. A nomination to a node that no pod is leaving protects nothing: the pod would fit there, or the nomination is outdated. */
function waitingForVictims(pending: readonly Pod[], all: readonly Pod[]): readonly PodRecord[] {
  const leaving = all.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  const nodes = new Set(leaving.map(({ spec }) => spec?.nodeName));
  return pending.map(readPod).filter(({ nominatedNode }) => nominatedNode !== '' && nodes.has(nominatedNode));
}

function snapshotOf(state: StoredObjects): ClusterSnapshot {
  const snapshot = new ClusterSnapshot();
  for (const kind of everyKind)
    for (const object of state.values(kindResources[kind] as Resource)) snapshot.add(kind, object as never);
  return snapshot;
}
