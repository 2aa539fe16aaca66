/**
 * Keeps the volumes of one owner, such as a StatefulSet, on different nodes or in different zones, if an annotation of the class or claim
 * says so. It decides only about volumes that are still to be chosen; those that exist stay where they are. Different drives are a matter
 * of the binding rule, which chooses drives.
 */
import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { zoneOfNode } from '../../cluster-index/pools/owner-places.ts';
import { apartGroupOf } from '../../cluster-index/pools/policies/apart-group.ts';
import { policyOfClaim } from '../../cluster-index/pools/policies/policy-of-claim.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import { haveSameLabels } from '../../records/labels.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { policyKey, type VolumePolicy } from '../../records/volume-policy.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnClaimChange } from '../wake-conditions/own-claim.ts';

interface ApartClaim {
  readonly claim: string;
  readonly apart: VolumePolicy['apart'];
  readonly places: OccupiedPlaces;
}

interface ApartState {
  readonly claims: readonly ApartClaim[];
}

const onNodeBit = 1;
const inZoneBit = 2;

export const volumeAntiAffinityRule: Rule<ApartState> = {
  name: 'VolumeAntiAffinity',
  reasons: ['VolumeOfOwnerOnNode', 'VolumeOfOwnerInZone'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates: (interest, change, index) =>
    interest.apartGroups.size > 0 && (change.kind === 'Node' || wakes(interest, change, index)),
};

function prepare({ index, pod }: Cycle): Prepared<ApartState> {
  const claims: ApartClaim[] = [];
  for (const { key } of pod.claims) {
    const claim = index.claims.get(key);
    const group = claim && isOpen(index, claim) ? apartGroupOf(index, claim, pod) : undefined;
    if (claim === undefined || group === undefined) continue;
    const { apart } = policyOfClaim(index, claim);
    claims.push({ claim: key, apart, places: placesOfSiblings(index, group, pod) });
  }
  return claims.length === 0 ? skip : { kind: 'ready', state: { claims } };
}

/** Whether the place of the claim's volume is still to be chosen. If it is being bound or provisioned, refusing its node would block it. */
function isOpen(index: ClusterIndex, claim: ClaimRecord): boolean {
  return (
    claim.volumeName === '' &&
    claim.selectedNode === '' &&
    index.promises.get(claim.key) === undefined &&
    index.volumes.heldFor(claim.key) === undefined &&
    index.volumes.claimedFor(claim.key).length === 0
  );
}

function filter({ claims }: ApartState, cycle: Cycle): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    let verdict = 0;
    for (const claim of claims) verdict |= verdictAt(cycle.index, claim, node);
    if (verdict !== 0) cycle.rejectUnresolvable(node, verdict);
  }
}

function verdictAt({ nodes }: ClusterIndex, { apart, places }: ApartClaim, node: number): number {
  const zone = apart.has('zones') ? zoneOfNode(nodes, node) : undefined;
  const isOnNode = apart.has('nodes') && isOccupied(places.nodes, node);
  const isInZone = zone !== undefined && isOccupied(places.zones, zone);
  return (isOnNode ? onNodeBit : 0) | (isInZone ? inZoneBit : 0);
}

function explain({ claims }: ApartState, { index }: Cycle, node: number): readonly Finding[] {
  return claims.flatMap((apartClaim) => {
    const { claim } = apartClaim;
    const verdict = verdictAt(index, apartClaim, node);
    const { name } = volumeAntiAffinityRule;
    return [
      ...((verdict & onNodeBit) === 0 ? [] : [plainFinding(name, 'VolumeOfOwnerOnNode', claim)]),
      ...((verdict & inZoneBit) === 0 ? [] : [plainFinding(name, 'VolumeOfOwnerInZone', claim)]),
    ];
  });
}

/** Changes that could free a place: another claim of the owner or its volume is deleted or moved, nodes and zones are added, or the policy changes. */
function wakes(interest: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  if (interest.apartGroups.size === 0) return false;
  switch (change.kind) {
    case 'Release':
      return true;
    case 'PersistentVolumeClaim':
      return isOwnClaimChange(interest, change) || isSiblingChange(interest, change.before, index);
    case 'PersistentVolume':
      return isVolumeMove(interest, change);
    case 'Node':
      return (
        change.after === undefined ||
        change.before === undefined ||
        !haveSameLabels(change.before, change.after)
      );
    case 'StorageClass':
      return (
        change.before !== undefined &&
        interest.classes.has(change.before.key) &&
        policyKey(change.before.policy) !== (change.after && policyKey(change.after.policy))
      );
    case 'StatefulSet':
      return (change.after ?? change.before)!.namespace === interest.pod.namespace;
    case 'Pod':
      return isEphemeralOwnerChange(interest, change);
    default:
      return false;
  }
}

/** The claims of generic ephemeral volumes belong to the owner of their pod; other claims have their owner whatever pods there are. */
function isEphemeralOwnerChange({ pod }: Interest, { before, after }: ObjectChange<'Pod'>): boolean {
  const { namespace, claims } = (after ?? before)!;
  if (namespace !== pod.namespace || before?.owner === after?.owner) return false;
  return claims.some(({ isEphemeral }) => isEphemeral);
}

/** The volume of a claim in the namespace goes, or is reached from other nodes. Its claim may be gone. */
function isVolumeMove({ pod }: Interest, { before, after }: ObjectChange<'PersistentVolume'>): boolean {
  if (before?.claim?.claimKey.startsWith(`${pod.namespace}/`) !== true) return false;
  return after === undefined || after.nodes.key !== before.nodes.key;
}

/** The owner of a claim is not looked up: waking in vain does no harm. */
function isSiblingChange({ pod }: Interest, claim: ClaimRecord | undefined, index: ClusterIndex): boolean {
  if (claim === undefined || claim.namespace !== pod.namespace) return false;
  const now = index.claims.get(claim.key);
  return (
    now === undefined ||
    now.volumeName !== claim.volumeName ||
    now.selectedNode !== claim.selectedNode ||
    now.uid !== claim.uid
  );
}

/** The places of the volumes of one owner, without those of the pod itself, which are on the pod's own node by necessity. */
interface OccupiedPlaces {
  /** Key: the node row. A volume that several nodes reach is on none of them. */
  readonly nodes: Occupied<number>;
  /** Key: the value of the zone label. A volume that several zones reach is in none of them. */
  readonly zones: Occupied<string>;
}

/** How many volumes are in each place. */
interface Occupied<Place> {
  readonly all: ReadonlyMap<Place, number>;
  readonly ofPod: ReadonlyMap<Place, number>;
}

function placesOfSiblings(index: ClusterIndex, group: string, pod: PodRecord): OccupiedPlaces {
  const places = index.ownerPlaces.of(group);
  const nodes = new Map<number, number>();
  const zones = new Map<string, number>();
  for (const key of new Set(pod.claims.map((claim) => claim.key))) {
    const { node, zone } = places.placeOf(key);
    if (node !== undefined) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  return { nodes: { all: places.nodes, ofPod: nodes }, zones: { all: places.zones, ofPod: zones } };
}

function isOccupied<Place>({ all, ofPod }: Occupied<Place>, place: Place): boolean {
  const count = all.get(place);
  return count !== undefined && count > (ofPod.get(place) ?? 0);
}
