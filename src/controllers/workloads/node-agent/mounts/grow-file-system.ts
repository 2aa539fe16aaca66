import { storageOf } from '../../../../engine/expansion/decide-expansion.ts';
import { awaitsNodeResize, resizeFinishedStatus } from '../../../../engine/expansion/resize-status.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../../kube/api/core.ts';
import { persistentVolumeClaims } from '../../../../kube/resources.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { referenceTo } from '../../../../reconcile/event-recorder.ts';

/**
 * The node's part of an expansion: the file system grows to the volume's size while a pod runs on it. One write to the version that was
 * read; a claim that does not wait for it is not changed.
 */
export async function growFileSystem(
  context: ControllerContext,
  pod: Pod,
  { claim, volume }: { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume },
  signal: AbortSignal,
): Promise<void> {
  const size = storageOf(volume.spec?.capacity);
  if (size === undefined || !awaitsNodeResize(claim)) return;
  const { namespace, name = '', uid, resourceVersion } = claim.metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, status: resizeFinishedStatus(claim, size) };
  const client = context.cluster.resource(persistentVolumeClaims);
  await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
  const note = `MountVolume.NodeExpandVolume succeeded for volume "${volume.metadata?.name}" ${pod.spec?.nodeName}`;
  const action = 'ExpandFileSystem';
  const event = { type: 'Normal', reason: 'FileSystemResizeSuccessful', action, note } as const;
  context.events.record({ regarding: referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' }), ...event });
  const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
  context.events.record({ regarding, ...event });
}
