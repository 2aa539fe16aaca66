import type { Cluster } from '../../../../cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../../kube/resources.ts';
import { annotations } from '../../../../kube/well-known.ts';
import type { Controller } from '../../../../reconcile/controller.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { pvBinderController } from '../pv-binder.ts';
import { createObjects, type InitialObjects, namespace } from './initial-objects.ts';

/** The result: a line for each volume and claim, and the Events about them. */
export interface BinderOutcome {
  readonly claims: readonly string[];
  readonly volumes: readonly string[];
  readonly events: readonly string[];
}

/** Creates the objects, runs the binder until nothing more happens, and reads the result. */
export async function runBinder(
  found: InitialObjects,
  binder: Controller = pvBinderController(),
): Promise<BinderOutcome> {
  await using fixture = await VirtualTimeCluster.start();
  await createObjects(fixture.cluster, found);
  fixture.run([binder]);
  await fixture.settle();
  return await outcomeOf(fixture);
}

async function outcomeOf(fixture: VirtualTimeCluster): Promise<BinderOutcome> {
  return { ...(await claimAndVolumeLines(fixture.cluster)), events: await fixture.eventLines() };
}

export async function claimAndVolumeLines(cluster: Cluster): Promise<Omit<BinderOutcome, 'events'>> {
  const claims = await cluster.resource(persistentVolumeClaims).list({ namespace });
  const volumes = await cluster.resource(persistentVolumes).list();
  const uids = new Map(claims.items.map(({ metadata }) => [metadata?.name ?? '', metadata?.uid ?? '']));
  return {
    claims: claims.items.map(claimLine),
    volumes: volumes.items.map((volume) => volumeLine(volume, uids)),
  };
}

/** `data: Bound on v1 (1Gi), by controller, complete`. */
function claimLine({ metadata, spec, status }: PersistentVolumeClaim): string {
  const parts = [`${metadata?.name}: ${status?.phase}`];
  if ((spec?.volumeName ?? '') !== '') parts.push(` on ${spec?.volumeName}`);
  if (status?.capacity !== undefined) parts.push(` (${status.capacity.storage})`);
  if (has(metadata, annotations.boundByController)) parts.push(', by controller');
  if (has(metadata, annotations.bindCompleted)) parts.push(', complete');
  return parts.join('');
}

/** `v1: Bound for data, by controller`; `(no uid)` and `(other uid)` if the claimRef does not refer to the existing claim. */
function volumeLine({ metadata, spec, status }: PersistentVolume, uids: ReadonlyMap<string, string>): string {
  const parts = [`${metadata?.name}: ${status?.phase}`];
  const { name = '', uid = '' } = spec?.claimRef ?? {};
  if (name !== '') {
    const which = uid === '' ? ' (no uid)' : uid === uids.get(name) ? '' : ' (other uid)';
    parts.push(` for ${name}${which}`);
  }
  if (has(metadata, annotations.boundByController)) parts.push(', by controller');
  return parts.join('');
}

function has(metadata: PersistentVolume['metadata'], annotation: string): boolean {
  return metadata?.annotations?.[annotation] !== undefined;
}
