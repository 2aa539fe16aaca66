import { truncatedList } from '../../engine/explain/truncated-list.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { Event, PersistentVolume } from '../../kube/api/core.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { isExclusive } from '../../kube/volumes.ts';
import { labels } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { isUnread } from '../view/unread-kinds.ts';
import { claimStanding, isWithoutDriver } from './claim-state.ts';
import { diskRoomText } from './disk-room.ts';
import type { PodReasonLine, VolumeWaitLine } from './explanation.ts';
import { eventLines } from './lines.ts';
import type { PodQuestion } from './pod-question.ts';

/** Claims whose node is chosen and whose provisioner has not created the volume yet. */
export function provisionerWaits(question: PodQuestion): readonly VolumeWaitLine[] {
  const { record, index, view } = question;
  return record.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    if (claim === undefined || claim.isBound || claim.selectedNode === '') return [];
    if (claimStanding(claim, index, [record], view).state !== 'WaitsForProvisioner') return [];
    const provisioner = index.classes.get(claim.className)?.provisioner ?? '';
    const { selectedNode: node } = claim;
    const stopped = stoppedNodeService(view, provisioner, node);
    if (stopped !== undefined)
      return [nodeServiceLine(key, node, `claim ${key} waits for its volume on node ${node}`, stopped)];
    return [
      {
        reason: 'Provisioner',
        claim: key,
        provisioner,
        node,
        text: `claim ${key} waits for provisioner ${provisioner} to create its volume for node ${node}`,
        details: provisionerDetails(claim, provisioner, question),
      } satisfies VolumeWaitLine,
    ];
  });
}

function provisionerDetails(
  { key, namespace, name }: ClaimRecord,
  provisioner: string,
  { view }: PodQuestion,
): readonly string[] {
  const events = eventLines(view.events, { kind: 'PersistentVolumeClaim', namespace, name });
  const failure = events.find(({ type }) => type === 'Warning');
  const disks = diskRoomText(view, key);
  return [
    ...(disks === undefined ? [] : [disks]),
    ...(failure === undefined ? [] : [`the claim's latest warning is ${failure.reason}: ${failure.message}`]),
    ...(isWithoutDriver(provisioner, view)
      ? [`there is no CSIDriver ${provisioner}: if it is a CSI driver, it is not installed`]
      : []),
    'check that the provisioner is running; its log says more',
  ];
}

/** How to start a node service that does not run: its kubelet has removed it from the CSINode. Undefined if it runs, or that is not known. */
function stoppedNodeService(view: ClusterView, driver: string, node: string): string | undefined {
  if (driver !== drivesDriver || node === '' || isUnread(view, 'CSINode')) return undefined;
  // Files may have been collected without them.
  if (view.isFromFiles && [...view.snapshot.values('CSINode')].length === 0) return undefined;
  const { drivers = [] } = view.snapshot.get('CSINode', node)?.spec ?? {};
  if (drivers.some(({ name }) => name === driver)) return undefined;
  return `start the node service on node ${node}: stowage csi --services node --node-name ${node}; with the chart, see the pod of the component drives-node there`;
}

/** The pod has a node, and the node service that mounts its volumes does not run there. */
export function nodeServiceWaits({ pod, record, index, view }: PodQuestion): readonly VolumeWaitLine[] {
  if (record.nodeName === '' || pod.status?.phase === 'Running') return [];
  const stopped = stoppedNodeService(view, drivesDriver, record.nodeName);
  if (stopped === undefined) return [];
  return record.claims.flatMap(({ key }): readonly VolumeWaitLine[] => {
    const volume = index.claims.get(key)?.volumeName ?? '';
    if (index.volumes.get(volume)?.csi?.driver !== drivesDriver) return [];
    const text = `volume ${volume} of claim ${key} cannot be mounted on node ${record.nodeName}`;
    return [{ ...nodeServiceLine(key, record.nodeName, text, stopped), volume }];
  });
}

function nodeServiceLine(claim: string, node: string, text: string, remedy: string): VolumeWaitLine {
  const why = `the node service of ${drivesDriver} is not running there`;
  return { reason: 'NodeServiceStopped', claim, node, text: `${text}: ${why}`, details: [remedy] };
}

/** Volumes that only one node may attach, and that another node still has. The pod has a node, and its containers cannot start. */
export function attachmentWaits(question: PodQuestion): readonly VolumeWaitLine[] {
  const { pod, record, index } = question;
  if (record.nodeName === '' || pod.status?.phase === 'Running') return [];
  return record.claims.flatMap(({ key }) => {
    const volume = index.claims.get(key)?.volumeName ?? '';
    return volume === '' ? [] : (attachedElsewhere(question, key, volume) ?? []);
  });
}

function attachedElsewhere(question: PodQuestion, claim: string, volume: string): VolumeWaitLine | undefined {
  const { snapshot, events } = question.view;
  const stored = snapshot.get('PersistentVolume', volume);
  if (stored !== undefined && !isExclusive(stored)) return undefined;
  const [other] = [...snapshot.values('VolumeAttachment')].filter(({ spec }) => {
    return spec?.source?.persistentVolumeName === volume && spec.nodeName !== question.record.nodeName;
  });
  const users = otherUsers(question, claim);
  const node = textOf(other?.spec?.nodeName) || users[0]?.nodeName;
  const isReported = events.some((event) => isMultiAttach(event, question, volume));
  if (other === undefined && !(isReported && node !== undefined)) return undefined;
  const there = users.filter(({ nodeName }) => nodeName === node).map(({ key }) => key);
  const who =
    there.length === 0
      ? 'where no pod uses it any more'
      : `where ${truncatedList(there.slice(0, podsShownMax), there.length)} ${there.length === 1 ? 'uses' : 'use'} it`;
  return {
    reason: 'AttachedElsewhere',
    claim,
    volume,
    node,
    pods: there,
    text: `volume ${volume} of claim ${claim} can be attached to one node only, and is attached to ${node}, ${who}`,
    details: [
      there.length === 0
        ? `wait until it is detached; if this persists, check that node ${node} is running`
        : `delete that pod or run both pods on one node; or use a volume with access mode ReadWriteMany`,
    ],
  };
}

const podsShownMax = 3;

function otherUsers({ index, record }: PodQuestion, claim: string) {
  return [...index.pods.usingClaim(claim)].filter(
    ({ key, nodeName, isFinished }) =>
      key !== record.key && !isFinished && nodeName !== '' && nodeName !== record.nodeName,
  );
}

/** The attach controller reports it; without the right to list VolumeAttachments there is no other sign. */
function isMultiAttach(
  { involvedObject: object, reason, message = '' }: Event,
  { record }: PodQuestion,
  volume: string,
): boolean {
  const isPod = object?.kind === 'Pod' && `${object.namespace}/${object.name}` === record.key;
  return (
    isPod &&
    reason === 'FailedAttachVolume' &&
    message.startsWith('Multi-Attach') &&
    message.includes(`"${volume}"`)
  );
}

// ── Volumes of nodes that no longer exist ──

/**
 * Bound volumes of the pod that only nodes can use which do not exist any more: local disks of a node that was deleted, or that came back under another
 * name. No rule about the nodes that exist says that.
 */
export function lostNodeReasons({ record, index, view }: PodQuestion): readonly PodReasonLine[] {
  return record.claims.flatMap(({ key }) => {
    const volume = index.claims.get(key)?.volumeName ?? '';
    const stored = view.snapshot.get('PersistentVolume', volume);
    const nodes = stored === undefined ? [] : nodesNamedBy(stored);
    if (nodes.length === 0 || nodes.some((name) => exists(name, view.snapshot.values('Node')))) return [];
    const named =
      nodes.length === 1 ? `node ${nodes[0]}, which does not` : `nodes ${nodes.join(', ')}, which do not`;
    return [
      {
        reason: 'BoundVolumeUnreachable',
        sentence: `volume ${volume} is pinned to ${named} exist`,
        remedy: `start ${nodes[0]} again under this name; if its disk is lost, delete the claim and the pod, and restore the data from a copy`,
        claim: key,
        message: `PersistentVolume ${volume} can be used on no node of this cluster`,
      },
    ];
  });
}

/** The nodes by hostname or name, if every term of the volume's node affinity names some; else none. */
function nodesNamedBy({ spec }: PersistentVolume): readonly string[] {
  const terms = listOf(spec?.nodeAffinity?.required?.nodeSelectorTerms);
  const names = terms.map((term) =>
    [
      ...listOf(term?.matchExpressions).filter(({ key }) => key === labels.hostname),
      ...listOf(term?.matchFields).filter(({ key }) => key === 'metadata.name'),
    ].flatMap(({ operator, values }) => (operator === 'In' ? listOf(values).map(textOf) : [])),
  );
  return names.every((ofTerm) => ofTerm.length > 0) ? [...new Set(names.flat())].sort() : [];
}

function exists(
  name: string,
  nodes: Iterable<{ readonly metadata?: { readonly name?: string; readonly labels?: object } }>,
): boolean {
  for (const { metadata } of nodes) {
    const hostname = (metadata?.labels as Record<string, string> | undefined)?.[labels.hostname];
    if (metadata?.name === name || hostname === name) return true;
  }
  return false;
}
