import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import { type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { addAgentFinalizer } from '../add-agent-finalizer.ts';
import { type AgentParts, dataFolderOn } from '../agent-parts.ts';
import { emptyContents } from '../files/contents-hash.ts';
import type { DataFolder } from '../files/data-folder.ts';
import { type DataIdentity, withContents } from '../files/data-identity.ts';
import type { FileStamp } from '../files/host-files.ts';
import type { AgentDisk } from '../status/agent-disks.ts';
import { agentSource } from '../transfer/agent-source.ts';
import { tokenHash } from '../transfer/bearer-token.ts';
import { type ByteSource, TransferError } from '../transfer/byte-source.ts';
import { fillVerifiedPart } from '../transfer/fill-verified-part.ts';
import { localSource } from '../transfer/local-source.ts';
import { type ReplicaOrigin, replicaOrigin } from './replica-origin.ts';
import { writeReplicaStatus } from './replica-status.ts';

export interface ReplicaPlace {
  readonly replica: Replica;
  readonly disk: AgentDisk;
}

type KnownOrigin = Exclude<ReplicaOrigin, { kind: 'wait' }>;

/** The initial data of the replica, from live reads: an empty replica beside others with data would be worse than none. */
export async function findReplicaOrigin(
  { context, caches, disks }: AgentParts,
  replica: Replica,
  signal: AbortSignal,
): Promise<ReplicaOrigin> {
  const { cluster } = context;
  const { volumeName = '' } = replica.spec ?? {};
  const fieldSelector = `spec.volumeName=${volumeName}`;
  const { items: siblings } = await cluster.resource(replicas).list({ fieldSelector, signal });
  // This runs after the replicas: a replica with data that has been deleted by then has left its record in the volume.
  const volume = await undefinedIfNotFound(
    cluster.resource(diskVolumes).get({ name: volumeName }, { signal }),
  );
  const imageName = volume?.spec?.backingImage;
  const object =
    imageName === undefined
      ? undefined
      : await undefinedIfNotFound(cluster.resource(backingImages).get({ name: imageName }, { signal }));
  return replicaOrigin({
    replica,
    volume,
    siblings,
    image:
      imageName === undefined ? undefined : { name: imageName, object: object as BackingImage | undefined },
    nodes: caches.nodes.values(),
    isOwnDisk: (uuid) => disks.ready(uuid) !== undefined,
  });
}

/**
 * Makes the file of a replica: the finalizer first, then the identity, then the data, and `data.img` when all of it is there and was
 * read again. Returns the stamp of the data, which is recorded with its checksum. Each step can be repeated, so a crash after any of them loses nothing but time.
 */
export async function makeReplica(
  parts: AgentParts,
  { replica, disk }: ReplicaPlace,
  origin: KnownOrigin,
  signal: AbortSignal,
): Promise<FileStamp> {
  const { context } = parts;
  const bytes = replica.spec?.volumeSize ?? 0;
  const kept = await addAgentFinalizer(context.cluster.resource(replicas), replica, signal);
  const { name = '', uid = '' } = kept.metadata ?? {};
  const folder = dataFolderOn(parts, disk, { kind: 'Replica', name });
  const base: DataIdentity = { name, uid, volume: kept.spec?.volumeName ?? '', size: bytes };
  const identity = await begin(folder, base);
  if (origin.kind === 'empty') {
    // An earlier attempt may have had another origin.
    await folder.discardPart();
    return await finish(folder, base, emptyContents);
  }
  const token = origin.kind === 'agent' ? parts.newToken() : undefined;
  await writeReplicaStatus(context, kept, {
    currentState: 'starting',
    message: 'its data is being copied',
    ...(token !== undefined && { transferTokenSHA256: tokenHash(token) }),
  });
  const source = await sourceOf(parts, origin, token ?? '');
  const limit = { bytes, remedy: 'that is the size of the volume; make it as large as its data' };
  const filled = await fillVerifiedPart(source, { folder, identity, limit, onProgress: () => {} }, signal);
  const begun = { ...base, ...(origin.kind === 'image' && { sha512: filled.sha512 ?? '' }) };
  return await finish(folder, begun, filled.contents);
}

/** Only this agent writes to a part, so its checksum is that of the data when the name of the file changes. */
async function finish(folder: DataFolder, identity: DataIdentity, contents: string): Promise<FileStamp> {
  const bytes = identity.size ?? 0;
  const stamp = await folder.markPart(bytes);
  await folder.identify(withContents(identity, contents, stamp));
  await folder.complete(bytes);
  return stamp;
}

/** An earlier attempt may have received a part of the data. */
async function begin(folder: DataFolder, base: DataIdentity): Promise<DataIdentity> {
  const state = await folder.inspect();
  if (state.kind === 'known') return state.identity;
  await folder.identify(base);
  return base;
}

async function sourceOf(
  parts: AgentParts,
  origin: Exclude<KnownOrigin, { kind: 'empty' }>,
  token: string,
): Promise<ByteSource> {
  switch (origin.kind) {
    case 'agent': {
      const path = `/replicas/${origin.replicaName}/data`;
      return agentSource({ ...origin.address, path, token, clock: parts.context.clock });
    }
    case 'local':
      return localSource(folderOf(parts, origin.diskUUID, { kind: 'Replica', name: origin.replicaName }));
    case 'image': {
      const folder = folderOf(parts, origin.diskUUID, { kind: 'BackingImage', name: origin.imageName });
      const state = await folder.inspect();
      return localSource(folder, state.kind === 'known' ? state.identity.sha512 : undefined);
    }
    default:
      return unreachable(origin);
  }
}

function folderOf(
  parts: AgentParts,
  uuid: string,
  data: { readonly kind: 'Replica' | 'BackingImage'; readonly name: string },
): DataFolder {
  const disk = parts.disks.ready(uuid);
  if (disk === undefined) throw new TransferError(`disk ${uuid} does not answer`, { isPermanent: false });
  return dataFolderOn(parts, disk, data);
}
