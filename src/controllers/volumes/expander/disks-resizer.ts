import type { PersistentVolume } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { bytesOf, quantityOfBytes } from '../../../kube/quantities/bytes.ts';
import { type DiskVolume, disksDriver, diskVolumes } from '../../../kube/stowage/volume.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { DiskVolumeWait } from '../../disk-volume-wait.ts';
import { type BuiltInResizer, type Expansion, hasFileSystem } from './resizer.ts';

/** How long one attempt waits for the verdicts of disks. After it the same size is tried again, and its requests stay. */
const attemptMs = 10_000;

type Context = Pick<ControllerContext, 'cluster' | 'informers' | 'clock'>;

/**
 * The resizer for volumes of `disks.stowage.dev`: it raises the size of the Volume, and the controller `disks` requests the bytes on every disk, all
 * or nothing. If a disk refuses, the size goes back, so that nothing grows that the claim may not request any more.
 */
export function disksResizer(context: Context): BuiltInResizer {
  const wait = new DiskVolumeWait(context);
  return {
    name: disksDriver,
    isFor: ({ spec }) => spec?.csi?.driver === disksDriver,
    expand: (volume, size, signal) => expandDisks({ context, wait, volume, size }, signal),
  };
}

interface DiskExpansion {
  readonly context: Context;
  readonly wait: DiskVolumeWait;
  readonly volume: PersistentVolume;
  readonly size: string;
}

async function expandDisks(
  { context, wait, volume, size }: DiskExpansion,
  signal: AbortSignal,
): Promise<Expansion> {
  const bytes = bytesOf(size);
  if (bytes > BigInt(Number.MAX_SAFE_INTEGER))
    return { kind: 'infeasible', message: `${bytes} bytes are more than a Volume can have, 2^53 - 1` };
  const wanted = Number(bytes);
  const name = handleOf(volume);
  try {
    return await wait.until(
      name,
      {
        maxMs: attemptMs,
        look: (found) => lookAt(context, found, { name, wanted, volume }, signal),
        timeoutText: () => `Volume ${name}: disks have not answered the request for ${wanted} bytes yet`,
      },
      signal,
    );
  } catch (error) {
    // The requests may still be granted: the same size is tried again.
    return { kind: 'unknown', error };
  }
}

/** The outcome; undefined while the Volume is on its way to the size. */
async function lookAt(
  context: Context,
  found: DiskVolume | undefined,
  {
    name,
    wanted,
    volume,
  }: { readonly name: string; readonly wanted: number; readonly volume: PersistentVolume },
  signal: AbortSignal,
): Promise<Expansion | undefined> {
  if (found === undefined || found.metadata?.deletionTimestamp !== undefined)
    return { kind: 'infeasible', message: `Volume ${name} does not exist any more` };
  const { size: current = 0, refusedExpansion } = found.status ?? {};
  if (current >= wanted)
    return { kind: 'expanded', size: quantityOfBytes(current), needsNode: hasFileSystem(volume) };
  if (found.spec?.size !== wanted) {
    await setSize(context, found, wanted, signal);
    return undefined;
  }
  // A refusal of an earlier attempt at the same size does not decide this one.
  const isAnswered = found.status?.observedGeneration === Number(found.metadata?.generation ?? 0);
  if (!isAnswered || refusedExpansion?.size !== wanted) return undefined;
  if (!(await setSize(context, found, current, signal))) return undefined;
  return { kind: 'failed', error: new Error(refusedExpansion.message), isInUse: false };
}

/** Patches the version that was read; false if the Volume has changed meanwhile. */
async function setSize(
  { cluster }: Context,
  { metadata }: DiskVolume,
  size: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', uid, resourceVersion } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, spec: { size } };
  try {
    await cluster.resource(diskVolumes).patch({ name }, { type: 'merge', body }, { signal });
    return true;
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return false;
    throw error;
  }
}

function handleOf({ spec }: PersistentVolume): string {
  return spec?.csi?.volumeHandle ?? '';
}
