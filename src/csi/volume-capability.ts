import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PersistentVolumeAccessMode, PersistentVolumeSpec } from '../kube/api/core.ts';
import { VolumeCapability_AccessMode_Mode as Mode, type VolumeCapabilitySchema } from './generated/csi.ts';
import type { ServedCsiDriver } from './served-driver.ts';

/** The capability as callers write it into requests. */
export type VolumeCapabilityInit = MessageInitShape<typeof VolumeCapabilitySchema>;

/** The fields of a volume, or of a claim and its class, that make up the capability. */
export interface CapabilitySource extends Pick<PersistentVolumeSpec, 'accessModes' | 'mountOptions'> {
  /** `Filesystem` if left out. */
  readonly volumeMode?: PersistentVolumeSpec['volumeMode'];
  readonly fsType?: string | undefined;
}

/** The capability of a volume, as the CSI sidecars of Kubernetes build it. Throws for access modes that CSI does not have. */
export function volumeCapability(
  { accessModes = [], mountOptions = [], volumeMode, fsType = '' }: CapabilitySource,
  driver: Pick<ServedCsiDriver, 'hasControllerCapability'>,
): VolumeCapabilityInit {
  const mode = csiAccessMode(accessModes, driver.hasControllerCapability('SINGLE_NODE_MULTI_WRITER'));
  const accessMode = { mode };
  if (volumeMode === 'Block') return { accessMode, accessType: { case: 'block', value: {} } };
  return { accessMode, accessType: { case: 'mount', value: { fsType, mountFlags: [...mountOptions] } } };
}

/** The capability of an existing volume. */
export function capabilityOfVolume(
  spec: PersistentVolumeSpec | undefined,
  driver: Pick<ServedCsiDriver, 'hasControllerCapability'>,
): VolumeCapabilityInit {
  return volumeCapability({ ...spec, fsType: spec?.csi?.fsType }, driver);
}

/**
 * CSI's mode for the access modes of a volume. Drivers that have SINGLE_NODE_MULTI_WRITER distinguish one writer on a node from several; for
 * others both are SINGLE_NODE_WRITER. ReadWriteMany includes all others.
 */
export function csiAccessMode(
  modes: readonly PersistentVolumeAccessMode[],
  distinguishesWriters: boolean,
): Mode {
  const has = new Set(modes);
  if (has.has('ReadWriteOncePod')) {
    if (has.size > 1) throw new Error('ReadWriteOncePod cannot be combined with other access modes');
    return distinguishesWriters ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER;
  }
  if (has.has('ReadWriteMany')) return Mode.MULTI_NODE_MULTI_WRITER;
  if (has.has('ReadOnlyMany')) {
    if (has.has('ReadWriteOnce'))
      throw new Error('CSI has no access mode that is both ReadOnlyMany and ReadWriteOnce');
    return Mode.MULTI_NODE_READER_ONLY;
  }
  if (!has.has('ReadWriteOnce')) throw new Error(`CSI has no access mode for [${modes.join(', ')}]`);
  return distinguishesWriters ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER;
}
