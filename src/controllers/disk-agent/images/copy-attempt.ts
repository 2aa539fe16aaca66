import { copyBytes } from '../../../engine/disks/images/may-make-copy.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { addAgentFinalizer } from '../add-agent-finalizer.ts';
import { type AgentParts, dataFolderOn } from '../agent-parts.ts';
import type { DataFolder } from '../files/data-folder.ts';
import type { DataIdentity } from '../files/data-identity.ts';
import type { AgentDisk } from '../status/agent-disks.ts';
import { agentSource } from '../transfer/agent-source.ts';
import { tokenHash } from '../transfer/bearer-token.ts';
import { type ByteSource, TransferError } from '../transfer/byte-source.ts';
import { type ByteLimit, checkTotalBytes, fillPart } from '../transfer/fill-part.ts';
import { httpDownload } from '../transfer/http-download.ts';
import { localSource } from '../transfer/local-source.ts';
import type { CopyOrigin } from './copy-origin.ts';
import { CopyProgress } from './copy-progress.ts';
import { type CopyReport, writeCopyStatus } from './copy-status.ts';
import { finishCopy } from './finish-copy.ts';

/** A copy of an image on one disk of the agent. */
export interface ImageCopyPlace {
  readonly image: BackingImage;
  readonly disk: AgentDisk;
}

/** Where an agent is with a copy that has no data yet. */
export interface PreparedCopy extends ImageCopyPlace {
  readonly folder: DataFolder;
  readonly identity: DataIdentity;
}

/**
 * Makes sure that the image can't go before its file, records the copy, and makes its folder. In this order: a folder always has an entry in
 * the status, and an image with an entry has the finalizer. Both writes carry the version, so none follows the start of a deletion.
 */
export async function prepareCopy(
  { context, files }: Pick<AgentParts, 'context' | 'files'>,
  { image, disk }: ImageCopyPlace,
  report: CopyReport,
  signal: AbortSignal,
): Promise<PreparedCopy> {
  const client = context.cluster.resource(backingImages);
  const kept = await addAgentFinalizer(client, image, signal);
  const recorded = await writeCopyStatus(context, kept, disk.uuid, report, { isVersioned: true });
  const { name = '', uid = '' } = recorded.metadata ?? {};
  const folder = dataFolderOn({ files }, disk, { kind: 'BackingImage', name });
  const state = await folder.inspect();
  if (state.kind === 'known') return { image: recorded, disk, folder, identity: state.identity };
  const identity = { name, uid };
  await folder.identify(identity);
  return { image: recorded, disk, folder, identity };
}

/** One attempt to make a copy from its origin. Throws a `TransferError` if the data can't be had. */
export async function attemptCopy(
  parts: AgentParts,
  { image, disk }: ImageCopyPlace,
  origin: Exclude<CopyOrigin, { kind: 'wait' | 'upload' }>,
  signal: AbortSignal,
): Promise<void> {
  const { context } = parts;
  const token = origin.kind === 'agent' ? parts.newToken() : undefined;
  const transferTokenSHA256 = token && tokenHash(token);
  const copy = await prepareCopy(parts, { image, disk }, { state: 'starting', transferTokenSHA256 }, signal);
  const limit = await limitOf(parts, copy, signal);
  const report = (percent: number): CopyReport => ({
    state: 'in-progress',
    progress: percent,
    transferTokenSHA256,
  });
  let current = copy.image;
  const progress = new CopyProgress({
    clock: context.clock,
    expectedBytes: copyBytes(current),
    write: async (percent) => {
      current = await writeCopyStatus(context, current, disk.uuid, report(percent));
    },
    onError: (error) =>
      context.report({ controller: 'disk-agent', key: current.metadata?.name ?? '', error }),
  });
  const onProgress = (done: number, total: number | undefined) => progress.report(done, total);
  try {
    const source = sourceFor(parts, origin, token ?? '');
    const { folder, identity } = copy;
    const filled = await fillPart(source, { folder, identity, limit, onProgress }, signal);
    const bytes = filled.bytes + filled.unsentZeroBytes;
    checkTotalBytes(bytes, limit);
    await finishCopy(folder, current, { bytes, sha512: filled.sha512 }, signal);
  } finally {
    await progress.settled();
  }
}

/** The limit is read again: the grant must be valid now. */
export async function limitOf(
  { context }: Pick<AgentParts, 'context'>,
  { image, disk }: ImageCopyPlace,
  signal: AbortSignal,
): Promise<ByteLimit> {
  const client = context.cluster.resource(diskSchedules);
  const schedule = await undefinedIfNotFound(client.get({ name: disk.uuid }, { signal }));
  return copyLimit(image, schedule);
}

function sourceFor(
  parts: AgentParts,
  origin: Exclude<CopyOrigin, { kind: 'wait' | 'upload' }>,
  token: string,
): ByteSource {
  const { clock } = parts.context;
  switch (origin.kind) {
    case 'download':
      return httpDownload(origin.url, clock);
    case 'agent': {
      const subfolder = origin.data.kind === 'Replica' ? 'replicas' : 'images';
      const path = `/${subfolder}/${origin.data.name}/data`;
      return agentSource({ ...origin.address, path, token, clock });
    }
    case 'local': {
      const disk = parts.disks.ready(origin.diskUUID);
      if (disk === undefined)
        throw new TransferError(`disk ${origin.diskUUID} does not answer`, { isPermanent: false });
      return localSource(dataFolderOn(parts, disk, origin.data));
    }
    default:
      return unreachable(origin);
  }
}

/** How long a copy may become: the bytes that its disk granted. Throws if the grant was withdrawn. */
function copyLimit(
  { metadata }: Pick<BackingImage, 'metadata'>,
  schedule: Pick<DiskSchedule, 'status'> | undefined,
): ByteLimit {
  const { scheduledSize = 0 } = ownValue(schedule?.status?.backingImages, metadata?.name ?? '') ?? {};
  if (scheduledSize === 0)
    throw new TransferError('the disk has withdrawn the bytes of the copy', { isPermanent: false });
  return { bytes: scheduledSize, remedy: 'the disk has granted no more; raise spec.expectedSize' };
}
