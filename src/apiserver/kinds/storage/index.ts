/**
 * The group `storage.k8s.io/v1`: classes, CSI drivers and their nodes, capacities and attachments. The rules of volumes that
 * these kinds share with PersistentVolume and PersistentVolumeClaim are in `../core/volumes/`.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { csiDriverKind } from './csi-driver.ts';
import { csiNodeKind } from './csi-node.ts';
import { csiStorageCapacityKind } from './csi-storage-capacity.ts';
import { storageClassKind } from './storage-class.ts';
import { volumeAttachmentKind } from './volume-attachment.ts';
import { volumeAttributesClassKind } from './volume-attributes-class.ts';

export const storageKinds: readonly ServedKind[] = [
  anyKind(storageClassKind),
  anyKind(csiDriverKind),
  anyKind(csiNodeKind),
  anyKind(csiStorageCapacityKind),
  anyKind(volumeAttachmentKind),
  anyKind(volumeAttributesClassKind),
];
