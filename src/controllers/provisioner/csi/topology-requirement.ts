import type { Node } from '../../../kube/api/core.ts';
import type { CSINode, StorageClass } from '../../../kube/api/storage.ts';
import { isRecord } from '../../../kube/wire.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';
import type { SpreadPosition } from '../spread.ts';
import {
  allowedSegments,
  type CsiSegment,
  clusterSegments,
  csiSegmentOf,
  csiSegmentText,
  includesSegment,
  sortedSegments,
  topologyKeysOf,
} from './topology-segments.ts';

/**
 * How many segments a request may name. They are recorded on the claim, whose annotations have a limit; a driver that gets these has
 * enough to choose from.
 */
const segmentsMax = 128;

export interface TopologyQuestion {
  readonly driver: string;
  readonly storageClass: StorageClass;
  readonly selectedNode: Node | undefined;
  /** The segments with nodes that fit the pod, as the scheduler recorded them; undefined if another scheduler selected the node. */
  readonly fitting?: readonly CsiSegment[] | undefined;
  readonly spread: SpreadPosition;
  readonly strict: boolean;
  readonly immediate: boolean;
  readonly csiNodeNamed: (name: string) => CSINode | undefined;
  readonly csiNodes: () => Iterable<CSINode>;
  readonly nodeNamed: (name: string) => Node | undefined;
}

/** The segments in the order of preference; undefined if the driver chooses without any. `requisite` is the same list, sorted. */
export type TopologyChoice =
  | { readonly kind: 'chosen'; readonly preferred: readonly CsiSegment[] | undefined }
  | RefusedOutcome;

/**
 * `accessibility_requirements` of CreateVolume, as external-provisioner builds them; but without segments where the pod cannot run, if the
 * scheduler recorded which ones those are. A driver may choose any of them, and a volume cannot change its place afterwards.
 */
export function chooseTopology(question: TopologyQuestion): TopologyChoice {
  return question.selectedNode === undefined
    ? withoutNode(question)
    : forNode(question, question.selectedNode);
}

function forNode(question: TopologyQuestion, node: Node): TopologyChoice {
  const { driver, strict, storageClass } = question;
  const name = node.metadata?.name ?? '';
  const csiNode = question.csiNodeNamed(name);
  // The node was deleted, or never had a CSI driver: the scheduler has to choose another.
  if (csiNode === undefined) return refusedOutcome(`error getting CSINode for selected node "${name}"`);
  const keys = topologyKeysOf(csiNode, driver);
  if (keys === undefined || keys.length === 0)
    return refusedOutcome(
      `no topology key of ${driver} found on CSINode ${name}; is the driver running there?`,
      'retry',
    );
  const own = csiSegmentOf(node, keys);
  if (own === undefined)
    return refusedOutcome(
      `node "${name}" does not have all labels of ${driver}: ${keys.join(', ')}`,
      'retry',
    );
  const terms = storageClass.allowedTopologies ?? [];
  const allowed = terms.length === 0 ? undefined : allowedSegments(terms);
  if (allowed !== undefined && !allowed.some((one) => includesSegment(own, one)))
    return refusedOutcome(
      `node "${name}" (${csiSegmentText(own)}) is not among the class's allowedTopologies`,
    );
  if (strict) return chosen([own]);
  const known = allowed ?? clusterSegments(keys, driver, question.csiNodes(), question.nodeNamed);
  const all = fittingOnes(known, question.fitting);
  const first = all.findIndex((one) => includesSegment(own, one));
  return first < 0 ? chosen([own]) : chosen(rotated(all, first));
}

/** A class may name fewer keys than the driver has: then one of its segments fits if a part of it does. */
function fittingOnes(
  segments: readonly CsiSegment[],
  fitting: readonly CsiSegment[] | undefined,
): readonly CsiSegment[] {
  if (fitting === undefined) return segments;
  return segments.filter((one) => fitting.some((each) => includesSegment(each, one)));
}

function withoutNode(question: TopologyQuestion): TopologyChoice {
  const { driver, storageClass, spread } = question;
  const terms = storageClass.allowedTopologies ?? [];
  if (terms.length === 0 && !question.immediate) return chosen(undefined);
  const all =
    terms.length > 0
      ? allowedSegments(terms)
      : clusterSegments(anyKeys(question), driver, question.csiNodes(), question.nodeNamed);
  if (all.length === 0)
    return refusedOutcome(
      `no node has registered the topology of ${driver}; is the driver running on a node?`,
      'retry',
    );
  return chosen(rotated(all, (spread.hash + spread.ordinal) % all.length));
}

/** The keys of the first node, by name, that has some: all nodes of a driver have the same, except during an update of the driver. */
function anyKeys({ driver, csiNodes }: TopologyQuestion): readonly string[] {
  let first: { readonly name: string; readonly keys: readonly string[] } | undefined;
  for (const csiNode of csiNodes()) {
    const keys = topologyKeysOf(csiNode, driver) ?? [];
    const name = csiNode.metadata?.name ?? '';
    if (keys.length > 0 && (first === undefined || name < first.name)) first = { name, keys };
  }
  return first?.keys ?? [];
}

function rotated(segments: readonly CsiSegment[], first: number): readonly CsiSegment[] {
  return [...segments.slice(first), ...segments.slice(0, first)];
}

function chosen(preferred: readonly CsiSegment[] | undefined): TopologyChoice {
  return { kind: 'chosen', preferred: preferred?.slice(0, segmentsMax) };
}

/** For CreateVolume. */
export function topologyRequirement(preferred: readonly CsiSegment[] | undefined) {
  if (preferred === undefined) return undefined;
  const topologies = (segments: readonly CsiSegment[]) => segments.map((one) => ({ segments: { ...one } }));
  return { requisite: topologies(sortedSegments(preferred)), preferred: topologies(preferred) };
}

/** As text, so that a repetition sends the same segments whatever has happened to nodes meanwhile. */
export function topologyRecord(preferred: readonly CsiSegment[] | undefined, drive?: string): string {
  const topology = preferred ?? null;
  return JSON.stringify(drive === undefined ? topology : { topology, drive });
}

/** The drive of a record; undefined if it has none. */
export function recordedDrive(text: string): string | undefined {
  const value = parsed(text);
  return isRecord(value) && typeof value.drive === 'string' ? value.drive : undefined;
}

/**
 * The inverse; undefined if the text cannot be used: users can change it. They can also select a node, so they may choose among the
 * segments that the class allows, and no others.
 */
export function readTopologyRecord(
  text: string,
  { allowedTopologies = [] }: StorageClass,
): { readonly preferred: readonly CsiSegment[] | undefined } | undefined {
  const record = parsed(text);
  const value = isRecord(record) ? record.topology : record;
  if (value === null) return allowedTopologies.length === 0 ? { preferred: undefined } : undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > segmentsMax) return undefined;
  if (!value.every(isSegment)) return undefined;
  const allowed = allowedTopologies.length === 0 ? undefined : allowedSegments(allowedTopologies);
  const isAllowed = (one: CsiSegment) => allowed?.some((each) => includesSegment(one, each)) ?? true;
  return value.every(isAllowed) ? { preferred: value } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSegment(value: unknown): value is CsiSegment {
  return isRecord(value) && Object.values(value).every((one) => typeof one === 'string');
}
