import { parseServerJson } from '../../../apiserver/schema/json-reader.ts';
import { podRevisionOf, type SetRevision } from '../../../engine/workloads/stateful-set-members.ts';
import { shortHash } from '../../../engine/workloads/template-hash.ts';
import type { ControllerRevision, StatefulSet } from '../../../kube/api/apps.ts';
import type { Pod, PodTemplateSpec } from '../../../kube/api/core.ts';
import type { Int64 } from '../../../kube/api/meta.ts';
import { compareInt64, nextInt64 } from '../../../kube/go/int64.ts';
import { canonicalJson } from '../../../kube/go/json-text.ts';
import { controllerReference } from '../../../kube/owner-references.ts';
import { statefulSets } from '../../../kube/resources.ts';
import { isRecord } from '../../../kube/wire.ts';

const hashLabel = 'controller.kubernetes.io/hash';
const parentLengthMax = 223;
const historyLimitDefault = 10;

/** The next step before pods can be assigned a revision. */
export type RevisionPlan =
  | { readonly kind: 'settled'; readonly current: SetRevision; readonly update: SetRevision }
  | { readonly kind: 'create'; readonly revision: ControllerRevision }
  /** An older template is needed again: it becomes the newest under its old name. */
  | { readonly kind: 'renumber'; readonly revision: ControllerRevision; readonly number: Int64 };

export interface RevisionPlanInput {
  /** All revisions in the namespace, of any owner. */
  readonly revisions: readonly ControllerRevision[];
  readonly collisions: number;
}

/** Finds the revision of the set's template, and the one of its pods. */
export function planRevisions(
  set: StatefulSet,
  mine: readonly ControllerRevision[],
  { revisions: all, collisions }: RevisionPlanInput,
): RevisionPlan {
  const known = sortRevisions(mine);
  const newest = known.at(-1);
  const number = nextInt64(newest?.revision ?? 0);
  const data = dataOf(set);
  const equal = known.filter((revision) => canonicalJson(revision.data) === canonicalJson(data)).at(-1);
  if (equal === undefined) return creation(set, newRevision(set, data, number, collisions), mine, all);
  if (newest !== undefined && canonicalJson(newest.data) !== canonicalJson(data))
    return { kind: 'renumber', revision: equal, number };
  return settled(set, known, newest ?? equal);
}

/** A revision with the same template and name is used as it is, whichever owner it has. */
function creation(
  set: StatefulSet,
  revision: ControllerRevision,
  mine: readonly ControllerRevision[],
  all: readonly ControllerRevision[],
): RevisionPlan {
  const sameName = all.find(({ metadata }) => metadata?.name === revision.metadata?.name);
  if (sameName === undefined || !isSameData(sameName, revision)) return { kind: 'create', revision };
  return settled(set, mine, sameName);
}

function settled(
  { status }: StatefulSet,
  known: readonly ControllerRevision[],
  newest: ControllerRevision,
): RevisionPlan {
  const update = named(newest);
  const current = known.find(({ metadata }) => metadata?.name === status?.currentRevision);
  return { kind: 'settled', current: current === undefined ? update : named(current), update };
}

/** Unused revisions beyond the history limit; the oldest are deleted. */
export function revisionsToDelete(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  pods: readonly Pod[],
  live: readonly SetRevision[],
): readonly ControllerRevision[] {
  const names = new Set([...live.map(({ name }) => name), ...pods.map(podRevisionOf)]);
  const past = sortRevisions(revisions).filter(({ metadata }) => !names.has(metadata?.name ?? ''));
  const limit = set.spec?.revisionHistoryLimit ?? historyLimitDefault;
  return limit < 0 ? [] : past.slice(0, Math.max(0, past.length - limit));
}

/** Whether two revisions have the same template. */
export function isSameData(one: ControllerRevision, other: ControllerRevision): boolean {
  return canonicalJson(one.data) === canonicalJson(other.data);
}

function newRevision(
  set: StatefulSet,
  data: unknown,
  revision: Int64,
  collisions: number,
): ControllerRevision {
  const hash = shortHash(canonicalJson(data), collisions);
  const { name = '', namespace = '', annotations } = set.metadata ?? {};
  return {
    metadata: {
      namespace,
      name: `${name.slice(0, parentLengthMax)}-${hash}`,
      labels: { ...set.spec?.template?.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(set, statefulSets)],
    },
    data,
    revision,
  };
}

/** A strategic merge patch that restores the template, as `kubectl rollout undo` sends it; its keys in order, as its name counts them. */
function dataOf({ spec }: StatefulSet): unknown {
  return parseServerJson(canonicalJson({ spec: { template: { ...spec?.template, $patch: 'replace' } } }));
}

function named({ metadata, data }: ControllerRevision): SetRevision {
  return { name: metadata?.name ?? '', template: templateOf(data) };
}

function templateOf(data: unknown): PodTemplateSpec {
  const spec = isRecord(data) ? data.spec : undefined;
  const template = isRecord(spec) ? spec.template : undefined;
  const { $patch: _, ...rest } = isRecord(template) ? template : {};
  return rest;
}

function sortRevisions(revisions: readonly ControllerRevision[]): readonly ControllerRevision[] {
  return revisions.toSorted(
    (a, b) =>
      compareInt64(a.revision ?? 0, b.revision ?? 0) ||
      compare(a.metadata?.creationTimestamp, b.metadata?.creationTimestamp) ||
      compare(a.metadata?.name, b.metadata?.name),
  );
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
