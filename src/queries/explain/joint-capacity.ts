import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { type Placement, plan } from '../../engine/plan.ts';
import type { Provision } from '../../engine/rules/framework/decisions.ts';
import { zeroSize } from '../../engine/size.ts';
import { bytesText } from '../../kube/quantities/amount-text.ts';
import type { Note } from '../view/note.ts';
import type { PodQuestion } from './pod-question.ts';

/**
 * kube-scheduler compares each new volume with the pools alone: a pod passes whose volumes fit one by one and not together, and its
 * provisioner fails. The note says so with the numbers. Profiles that add up volumes refuse such a pod.
 */
export function jointCapacityNotes(
  { provisions, node }: Placement,
  { view, pod, index, nowMs }: PodQuestion,
): readonly Note[] {
  if (index.profile.inFlight !== 'off' || provisions.length < 2) return [];
  const adding = view.snapshot.toIndex({ ...index.profile, inFlight: 'linear' }).index;
  const answer = plan(pod, adding, { nowMs, onlyNodes: [node] });
  if (answer.kind === 'placement') return [];
  const reasons = answer.explain([node]).nodes.flatMap(({ findings }) => findings);
  const isFull = reasons.some(
    ({ reason }) => reason === 'CapacityNotTogether' || reason === 'NotEnoughCapacity',
  );
  return isFull ? [{ about: 'risk', text: riskText(provisions, node, adding) }] : [];
}

function riskText(provisions: readonly Provision[], node: string, index: ClusterIndex): string {
  const each = provisions.map(({ claim, requested }) => `${claim} (${bytesText(requested.bytes, 'up')})`);
  const together = provisions.reduce((sum, { requested }) => sum + requested.bytes, 0);
  const pools = new Set(provisions.flatMap(({ pool }) => pool?.key ?? []));
  const free = [...pools].map((key) => poolText(key, index));
  return (
    `kube-scheduler checks each claim alone. On ${node} the claims ${each.join(' and ')} need ${bytesText(together, 'up')} together, ` +
    `and ${free.join(', ')}. Their provisioner may fail after the pod has been given this node`
  );
}

function poolText(key: string, { pools }: ClusterIndex): string {
  const { name, free = zeroSize } = pools.get(key) ?? { name: key };
  const promised = pools.promisedTotal(key).bytes;
  const taken = promised === 0 ? '' : `, of which ${bytesText(promised, 'up')} is promised to other volumes`;
  return `pool ${name} has ${bytesText(free.bytes, 'down')} free${taken}`;
}
