/**
 * Fields that this server has and Kubernetes has not, by type. Each is listed in `test/fidelity/differences.ts`. Their protobuf number is 0:
 * only JSON and YAML can carry them.
 */
export interface AddedField {
  /** A line of the tables. */
  readonly line: string;
  /** What `kubectl explain` prints. */
  readonly description: string;
}

/** Fields that this server adds to inline CSI volumes, as stored. */
export interface AddedToCsiVolumeSource {
  fsSize?: string | undefined;
}

const fsSize: AddedField = {
  line: 'fsSize 0 quantity *?',
  description:
    'fsSize is the size of the volume, as a quantity such as 10Gi. The scheduler reserves so much in a storage pool of the driver, and drivers ' +
    'that ask for pod information get it as csi.storage.k8s.io/size. Without it, the volume has no size; that is not the same as zero. ' +
    'A driver may ignore it. Only the API server of Stowage has this field; elsewhere, set ' +
    'volumeAttributes["csi.storage.k8s.io/size"] instead.',
};

export const addedFields: Readonly<Record<string, Readonly<Record<string, AddedField>>>> = {
  'core/v1.CSIVolumeSource': { fsSize },
};
