import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { isRecord, listOf } from '../../kube/wire.ts';

export interface WaitingSince {
  readonly time: string;
  readonly from: 'selected-node' | 'creation';
}

/** Since when a claim has a selected node, from the managed fields of that annotation; without them, the creation of the claim. */
export function waitingSince({ metadata }: PersistentVolumeClaim): WaitingSince | undefined {
  const owner = listOf(metadata?.managedFields).find(({ fieldsV1 }) => ownsSelectedNode(fieldsV1));
  if (owner?.time !== undefined) return { time: owner.time, from: 'selected-node' };
  const created = metadata?.creationTimestamp;
  return typeof created === 'string' ? { time: created, from: 'creation' } : undefined;
}

function ownsSelectedNode(fields: unknown): boolean {
  let at = fields;
  for (const step of ['f:metadata', 'f:annotations', `f:${annotations.selectedNode}`]) {
    if (!isRecord(at) || !Object.hasOwn(at, step)) return false;
    at = at[step];
  }
  return true;
}
