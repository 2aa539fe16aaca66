/**
 * The calls for one volume that the agent has made to a node plugin. It is saved before each call and after it, so that after a crash the agent
 * knows what may be staged or published, and can repeat the call or undo it.
 */
export interface PluginVolumeRecord {
  readonly driver: string;
  readonly volumeHandle: string;
  /** The PersistentVolume's name; for an inline volume, its name in the pod. */
  readonly specName: string;
  /** Whether the node's status reports it as in use, because it has an attachment. */
  readonly isAttachable: boolean;
  /** Undefined if NodeStageVolume was not called. */
  readonly staging?: StagedAt | undefined;
  /** Key: the uid of the pod. */
  readonly pods: Readonly<Record<string, PublishedAt>>;
}

interface StagedAt {
  readonly path: string;
  /** Whether the call has succeeded; if not, the volume may be staged or not. */
  readonly isDone: boolean;
}

export interface PublishedAt {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** Whether the call has succeeded; if not, the volume may be published or not. */
  readonly isDone: boolean;
}

/** The record with the pod's entry changed; undefined removes it. */
export function withPod(
  record: PluginVolumeRecord,
  uid: string,
  published: PublishedAt | undefined,
): PluginVolumeRecord {
  const { [uid]: _, ...others } = record.pods;
  return { ...record, pods: published === undefined ? others : { ...others, [uid]: published } };
}

export function withStaging(record: PluginVolumeRecord, staging: StagedAt | undefined): PluginVolumeRecord {
  return { ...record, staging };
}

/** Whether nothing is left to undo. */
export function isEmptyRecord({ staging, pods }: PluginVolumeRecord): boolean {
  return staging === undefined && Object.keys(pods).length === 0;
}

/** Returns undefined if the text is not a record. */
export function parsePluginVolumeRecord(text: string): PluginVolumeRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<PluginVolumeRecord> | null;
    const isRecord =
      typeof record?.driver === 'string' &&
      typeof record.volumeHandle === 'string' &&
      typeof record.specName === 'string' &&
      typeof record.pods === 'object' &&
      record.pods !== null;
    return isRecord ? (record as PluginVolumeRecord) : undefined;
  } catch {
    return undefined;
  }
}
