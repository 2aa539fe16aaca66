import { claimConflict } from '../../../../engine/workloads/ephemeral-claims.ts';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from '../../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../../kube/api/storage.ts';
import { matchesNode } from '../../../../kube/selectors/node-selector.ts';
import {
  ephemeralClaimName,
  isExclusive,
  isForOnePod,
  volumeModeOf,
  volumeNodeSelector,
} from '../../../../kube/volumes.ts';
import { finalizers } from '../../../../kube/well-known.ts';
import { holderOf, isUnderRollback } from './mounted-annotation.ts';
import { type ConfigLookup, missingVolumeConfig } from './referenced-config.ts';

/** The input of the check: the current state. */
export interface MountView {
  readonly pod: Pod;
  readonly node: Node;
  claim(name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  /** The attachment of the volume to the node; undefined if it is not attached. */
  attachment(volume: PersistentVolume): VolumeAttachment | undefined;
  /** All attachments of the volume. */
  attachments(volume: PersistentVolume): readonly VolumeAttachment[];
  /** Other pods that hold the claim's volume on their node. */
  users(claim: PersistentVolumeClaim): readonly Pod[];
  /** How many more volumes of the driver the node can attach. */
  freeSlots(driver: string): number;
  /** Whether the driver is registered on the node. */
  hasDriver(driver: string): boolean;
  /** Whether a driver that is missing may register itself in a moment. */
  readonly mayRegister: boolean;
  readonly config: ConfigLookup;
  /** Whether a volume's node affinity has to match the node. */
  readonly checksNodeAffinity: boolean;
}

export interface Mount {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly attachment: VolumeAttachment | undefined;
  /** The claim's annotation has to name this pod before anything is mounted. */
  readonly needsAnnotation: boolean;
}

/** Why a pod cannot start yet, in the form of its Event. */
export interface MountBlock {
  readonly reason: 'FailedMount' | 'FailedAttachVolume';
  readonly note: string;
  /** A binding that is being completed, or only partly in the cache, looks the same; reported only if it lasts. */
  readonly mayPass?: true;
}

export type MountCheck =
  | { readonly kind: 'ready'; readonly mounts: readonly Mount[] }
  | { readonly kind: 'blocked'; readonly block: MountBlock };

/**
 * Whether all volumes of the pod exist and may be mounted on its node, in the order in which a kubelet and the attach controller
 * check it. The first obstacle is reported.
 */
export function checkMounts(view: MountView): MountCheck {
  const mounts: Mount[] = [];
  for (const volume of view.pod.spec?.volumes ?? []) {
    const claimName = claimNameOf(view.pod, volume);
    if (claimName === undefined) {
      const missing = checkInlineDriver(view, volume) ?? checkConfig(view, volume);
      if (missing !== undefined) return { kind: 'blocked', block: missing };
      continue;
    }
    const found = findVolume(view, volume, claimName);
    if ('block' in found) return { kind: 'blocked', block: found.block };
    const block = checkVolume(view, found);
    if (block !== undefined) return { kind: 'blocked', block };
    mounts.push(mountOf(view, found));
  }
  const block = checkSlots(view, mounts);
  return block === undefined ? { kind: 'ready', mounts } : { kind: 'blocked', block };
}

interface Found {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
}

function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  if (volume.ephemeral === undefined) return undefined;
  return ephemeralClaimName(pod.metadata?.name ?? '', volume.name ?? '');
}

function findVolume(
  view: MountView,
  source: Volume,
  claimName: string,
): Found | { readonly block: MountBlock } {
  const path = `${view.pod.metadata?.namespace}/${claimName}`;
  const failed = (why: string) => ({
    block: { ...unprocessed(source, `error processing PVC ${path}: ${why}`), mayPass: true } as const,
  });
  const claim = view.claim(claimName);
  if (claim === undefined)
    return failed(`failed to fetch PVC from API server: persistentvolumeclaims "${claimName}" not found`);
  const problem = whyNotUsable(claim);
  if (problem !== undefined) return failed(problem);
  const conflict = source.ephemeral === undefined ? undefined : claimConflict(claim, view.pod);
  if (conflict !== undefined) return { block: unprocessed(source, conflict) };
  const volumeName = claim.spec?.volumeName ?? '';
  const volume = view.volume(volumeName);
  if (volume === undefined)
    return failed(
      `failed to fetch PV ${volumeName} from API server: persistentvolumes "${volumeName}" not found`,
    );
  const mismatch = bindingProblem(claim, volume);
  if (mismatch !== undefined) return failed(mismatch);
  const mode = whyWrongMode(view.pod, source, volume);
  return mode === undefined ? { claim, volume } : { block: unprocessed(source, mode) };
}

function whyNotUsable({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  const isProtected = (metadata?.finalizers ?? []).includes(finalizers.pvcProtection);
  if (metadata?.deletionTimestamp !== undefined && !isProtected) return 'PVC is being deleted';
  if (status?.phase !== 'Bound') return 'PVC is not bound';
  return (spec?.volumeName ?? '') === '' ? 'PVC has empty pvc.Spec.VolumeName' : undefined;
}

function bindingProblem(
  claim: PersistentVolumeClaim,
  { metadata, spec }: PersistentVolume,
): string | undefined {
  const found = `found PV object ${metadata?.name} but`;
  if (spec?.claimRef === undefined)
    return `${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  const { uid } = spec.claimRef;
  if (uid === claim.metadata?.uid) return undefined;
  return `${found} its pv.Spec.ClaimRef.UID ${uid ?? ''} does not point to claim.UID ${claim.metadata?.uid}`;
}

function whyWrongMode(pod: Pod, { name }: Volume, volume: PersistentVolume): string | undefined {
  const mode = volumeModeOf(volume);
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const all = [...containers, ...initContainers];
  const isMounted = all.some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name));
  const isDevice = all.some(({ volumeDevices = [] }) => volumeDevices.some((device) => device.name === name));
  if (isMounted && mode !== 'Filesystem')
    return `volume ${name} has volumeMode ${mode}, but is specified in volumeMounts`;
  return isDevice && mode !== 'Block'
    ? `volume ${name} has volumeMode ${mode}, but is specified in volumeDevices`
    : undefined;
}

function checkVolume(view: MountView, { claim, volume }: Found): MountBlock | undefined {
  const name = volume.metadata?.name;
  const failed = (what: string, why: string): MountBlock => ({
    reason: 'FailedMount',
    note: `${what} failed for volume "${name}" : ${why}`,
  });
  const verb = volumeModeOf(volume) === 'Block' ? 'MapVolume' : 'MountVolume';
  const selector = view.checksNodeAffinity ? volumeNodeSelector(volume) : undefined;
  const { name: nodeName, labels } = view.node.metadata ?? {};
  if (selector !== undefined && !matchesNode(selector, nodeName, labels))
    return failed(`${verb}.NodeAffinity check`, 'no matching NodeSelectorTerms');
  if (isUnderRollback(claim))
    return failed(`${verb}.SetUp`, `the binding of claim ${claim.metadata?.name} is being rolled back`);
  if (isForOnePod(volume) && isHeldByOther(view, claim))
    return failed(
      `${verb}.SetUp`,
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
  return checkOtherNodes(view, { claim, volume }) ?? checkDriver(view, volume);
}

/** The attach controller checks first; volumes without an attachment fail in the kubelet. */
function checkDriver(view: MountView, volume: PersistentVolume): MountBlock | undefined {
  const driver = volume.spec?.csi?.driver;
  if (driver === undefined || view.hasDriver(driver)) return undefined;
  const name = volume.metadata?.name;
  if (view.attachment(volume) !== undefined) {
    const why = `CSINode ${view.node.metadata?.name} does not contain driver ${driver}`;
    const note = `AttachVolume.Attach failed for volume "${name}" : ${why}`;
    return { reason: 'FailedAttachVolume', note, ...passing(view) };
  }
  const [what, where] =
    volumeModeOf(volume) === 'Block'
      ? ['MapVolume.SetUpDevice', 'blockMapper.SetUpDevice failed to get CSI client']
      : ['MountVolume.MountDevice', 'attacher.MountDevice failed to create newCsiDriverClient'];
  return {
    reason: 'FailedMount',
    note: `${what} failed for volume "${name}" : ${unregistered(where, driver)}`,
    ...passing(view),
  };
}

/** An inline volume of a driver, without a claim. */
function checkInlineDriver(view: MountView, { name, csi }: Volume): MountBlock | undefined {
  const driver = csi?.driver;
  if (driver === undefined || view.hasDriver(driver)) return undefined;
  const why = unregistered('mounter.SetUpAt failed to get CSI client', driver);
  const note = `MountVolume.SetUp failed for volume "${name}" : ${why}`;
  return { reason: 'FailedMount', note, ...passing(view) };
}

function passing({ mayRegister }: MountView): { readonly mayPass?: true } {
  return mayRegister ? { mayPass: true } : {};
}

/** A volume of Secrets or ConfigMaps. */
function checkConfig({ config }: MountView, volume: Volume): MountBlock | undefined {
  const why = missingVolumeConfig(config, volume);
  if (why === undefined) return undefined;
  return { reason: 'FailedMount', note: `MountVolume.SetUp failed for volume "${volume.name}" : ${why}` };
}

function unregistered(where: string, driver: string): string {
  return `kubernetes.io/csi: ${where}: driver name ${driver} not found in the list of registered CSI drivers`;
}

/** The pod that the annotation names, while it exists, or one that runs without an annotation. */
function isHeldByOther(view: MountView, claim: PersistentVolumeClaim): boolean {
  const holder = holderOf(claim);
  return view
    .users(claim)
    .some(({ metadata, status }) => metadata?.uid === holder?.podUid || status?.phase === 'Running');
}

function checkOtherNodes(view: MountView, { claim, volume }: Found): MountBlock | undefined {
  if (!isExclusive(volume) || view.attachment(volume) === undefined) return undefined;
  const nodeName = view.node.metadata?.name;
  const holder = holderOf(claim);
  const others = view.users(claim).filter((pod) => pod.spec?.nodeName !== nodeName);
  const isAttached = view.attachments(volume).some(({ spec }) => spec?.nodeName !== nodeName);
  const isHeld = others.some(({ metadata }) => metadata?.uid === holder?.podUid);
  if (!isAttached && !isHeld) return undefined;
  const names = others.map(({ metadata }) => metadata?.name).sort();
  const why =
    names.length > 0
      ? `Volume is already used by pod(s) ${names.join(', ')}`
      : "Volume is already exclusively attached to one node and can't be attached to another";
  return {
    reason: 'FailedAttachVolume',
    note: `Multi-Attach error for volume "${volume.metadata?.name}" ${why}`,
  };
}

/** Volumes that are already attached to the node need no slot. */
function checkSlots(view: MountView, mounts: readonly Mount[]): MountBlock | undefined {
  const wanted = new Map<string, number>();
  for (const { volume, attachment } of mounts) {
    if (attachment === undefined) continue;
    const isThere = view
      .attachments(volume)
      .some(({ metadata }) => metadata?.name === attachment.metadata?.name);
    if (isThere) continue;
    const driver = attachment.spec?.attacher ?? '';
    const count = (wanted.get(driver) ?? 0) + 1;
    wanted.set(driver, count);
    if (count <= view.freeSlots(driver)) continue;
    const why = `rpc error: code = ResourceExhausted desc = node ${view.node.metadata?.name} can attach no more volumes of ${driver}`;
    const note = `AttachVolume.Attach failed for volume "${volume.metadata?.name}" : ${why}`;
    return { reason: 'FailedAttachVolume', note };
  }
  return undefined;
}

function mountOf(view: MountView, { claim, volume }: Found): Mount {
  const holder = holderOf(claim);
  const attachment = view.attachment(volume);
  const isOtherPod = isForOnePod(volume) && holder?.podUid !== view.pod.metadata?.uid;
  const isOtherNode =
    isExclusive(volume) && attachment !== undefined && holder?.nodeName !== view.node.metadata?.name;
  return { claim, volume, attachment, needsAnnotation: holder === undefined || isOtherPod || isOtherNode };
}

function unprocessed({ name }: Volume, why: string): MountBlock {
  const note = `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${why}`;
  return { reason: 'FailedMount', note };
}
