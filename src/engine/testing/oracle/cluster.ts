import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from '../../../kube/api/storage.ts';
import { parseQuantity, quantityToNano } from '../../../kube/quantities/quantity.ts';
import type { DriverCapacity } from '../../../kube/stowage/driver-capacity.ts';
import { claimClassName, ephemeralClaimName } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';

/** The objects of a cluster in plain lists. Names are unique within a list. */
export interface OracleObjects {
  readonly Node?: readonly Node[];
  readonly PersistentVolume?: readonly PersistentVolume[];
  readonly PersistentVolumeClaim?: readonly PersistentVolumeClaim[];
  readonly StorageClass?: readonly StorageClass[];
  readonly CSIDriver?: readonly CSIDriver[];
  readonly CSINode?: readonly CSINode[];
  readonly CSIStorageCapacity?: readonly CSIStorageCapacity[];
  readonly DriverCapacity?: readonly DriverCapacity[];
  readonly VolumeAttachment?: readonly VolumeAttachment[];
  readonly Pod?: readonly Pod[];
}

/** The profile fields that the oracle needs. The name selects the behaviour. */
export interface OracleProfile {
  readonly name: string;
  readonly inFlightOf?: Readonly<Record<string, 'linear' | 'one-at-a-time' | 'off'>>;
}

/** The objects with common lookups. Nothing is indexed: every lookup scans a list. */
export class OracleCluster {
  readonly objects: OracleObjects;
  readonly profile: OracleProfile;
  readonly nowMs: number;

  constructor(objects: OracleObjects, profile: OracleProfile, nowMs: number) {
    this.objects = objects;
    this.profile = profile;
    this.nowMs = nowMs;
  }

  get nodes(): readonly Node[] {
    return this.objects.Node ?? [];
  }

  get volumes(): readonly PersistentVolume[] {
    return this.objects.PersistentVolume ?? [];
  }

  get isUpstream(): boolean {
    return this.profile.name === 'upstream';
  }

  node(name: string): Node | undefined {
    return this.nodes.find((node) => objectName(node) === name);
  }

  volume(name: string): PersistentVolume | undefined {
    return this.volumes.find((volume) => objectName(volume) === name);
  }

  claim(key: string): PersistentVolumeClaim | undefined {
    return this.objects.PersistentVolumeClaim?.find((claim) => objectKey(claim) === key);
  }

  classOf(claim: PersistentVolumeClaim): StorageClass | undefined {
    const name = claimClassName(claim);
    return this.objects.StorageClass?.find((storageClass) => objectName(storageClass) === name);
  }

  driver(name: string): CSIDriver | undefined {
    return this.objects.CSIDriver?.find((driver) => objectName(driver) === name);
  }

  csiNode(name: string): CSINode | undefined {
    return this.objects.CSINode?.find((csiNode) => objectName(csiNode) === name);
  }

  /** How volumes in flight are deducted. */
  inFlight(driver: string): 'linear' | 'one-at-a-time' | 'off' {
    return this.profile.inFlightOf?.[driver] ?? (this.isUpstream ? 'off' : 'linear');
  }
}

export function objectName(object: KubeObject): string {
  return object.metadata?.name ?? '';
}

export function objectKey(object: KubeObject): string {
  return `${object.metadata?.namespace ?? ''}/${objectName(object)}`;
}

/** A claim that a pod uses. */
export interface ClaimUse {
  readonly key: string;
  readonly name: string;
  readonly isEphemeral: boolean;
}

/** The claims of a pod, in the order of its volumes. A claim that several volumes name is listed once. */
export function claimsOf(pod: Pod): ClaimUse[] {
  const uses = new Map<string, ClaimUse>();
  for (const volume of pod.spec?.volumes ?? []) {
    const use = claimUse(pod, volume);
    if (use === undefined) continue;
    const known = uses.get(use.name);
    uses.set(use.name, { ...use, isEphemeral: use.isEphemeral || known?.isEphemeral === true });
  }
  return [...uses.values()];
}

function claimUse(pod: Pod, volume: Volume): ClaimUse | undefined {
  const namespace = pod.metadata?.namespace ?? '';
  if (volume.ephemeral) {
    const name = ephemeralClaimName(objectName(pod), volume.name ?? '');
    return { key: `${namespace}/${name}`, name, isEphemeral: true };
  }
  if (!volume.persistentVolumeClaim) return undefined;
  const name = volume.persistentVolumeClaim.claimName ?? '';
  return { key: `${namespace}/${name}`, name, isEphemeral: false };
}

/** Billionths of a byte; undefined if the quantity is missing or unreadable. */
export function nanoBytes(quantity: unknown): bigint | undefined {
  if (quantity === undefined || quantity === null) return undefined;
  const parsed = parseQuantity(quantity);
  if (!parsed.ok) return undefined;
  const nano = quantityToNano(parsed.quantity);
  return nano < 0n ? undefined : nano;
}

export function requestOf(claim: PersistentVolumeClaim): bigint | undefined {
  return nanoBytes(claim.spec?.resources?.requests?.storage);
}

export function selectedNodeOf(claim: PersistentVolumeClaim): string | undefined {
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;
}
