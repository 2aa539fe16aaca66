import { isExclusive } from '../../controllers/workloads/node-agent/mounts/attachments.ts';
import { truncatedList } from '../../engine/explain/truncated-list.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { Event } from '../../kube/api/core.ts';
import { textOf } from '../../kube/wire.ts';
import { claimStanding, isWithoutDriver } from './claim-state.ts';
import { diskRoomText } from './disk-room.ts';
import type { VolumeWaitLine } from './explanation.ts';
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
