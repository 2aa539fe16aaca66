/**
 * The kinds that storage is made of: volumes and claims of the core group, and the group `storage.k8s.io`. What they default,
 * refuse and show is Kubernetes' own, to the letter where users and programs can see it; see README.md.
 */
import { anyKind, type Kind } from '../kind.ts';
import { csiDrivers } from './csi-driver.ts';
import { csiNodes } from './csi-node.ts';
import { csiStorageCapacities } from './csi-storage-capacity.ts';
import { persistentVolumes } from './persistent-volume.ts';
import { persistentVolumeClaims } from './persistent-volume-claim.ts';
import { storageClasses } from './storage-class.ts';
import { volumeAttachments } from './volume-attachment.ts';
import { volumeAttributesClasses } from './volume-attributes-class.ts';

export const storageKinds: readonly Kind[] = [
  anyKind(persistentVolumes),
  anyKind(persistentVolumeClaims),
  anyKind(storageClasses),
  anyKind(csiDrivers),
  anyKind(csiNodes),
  anyKind(csiStorageCapacities),
  anyKind(volumeAttachments),
  anyKind(volumeAttributesClasses),
];
