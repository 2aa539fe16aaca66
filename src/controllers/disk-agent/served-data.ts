import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { haveSameVolume } from '../../kube/stowage/replica-volume.ts';
import { TokenBucket } from '../../runtime/token-bucket.ts';
import { type AgentParts, dataFolderOn } from './agent-parts.ts';
import type { ImageReader } from './images/image-reader.ts';
import type { ImageUploads } from './images/image-uploads.ts';
import {
  type AgentAnswer,
  forbiddenAnswer,
  type ReadableData,
  type ServedData,
} from './transfer/agent-answer.ts';
import { hasTokenHash } from './transfer/bearer-token.ts';

/** Clients without a valid token must not burden the API server. */
const liveReads = { burst: 20, tokensPerSecond: 5 };

export interface ServedDataOptions {
  readonly parts: AgentParts;
  readonly reader: ImageReader;
  readonly uploads: ImageUploads;
}

/**
 * Decides which agent may read which data. An agent that wants to fetch data writes the hash of a new token into the status of its copy or replica. On a real cluster,
 * an admission policy ensures that agents write only those of their own node (deploy/disks.yaml). The agent that has the data gives it to a client that knows
 * such a token. So an agent reads the volumes that it has a replica of, and the images that it is to have a copy of.
 */
export function servedData({ parts, reader, uploads }: ServedDataOptions): ServedData {
  const bucket = new TokenBucket(liveReads, parts.context.clock.monotonicMs());
  return {
    uploadState: async (name, token) => await uploads.state(name, token),
    upload: async (request) => await uploads.receive(request),
    read: async (kind, name, token) => {
      if (kind === 'Replica') return await readReplica(parts, { name, token }, bucket);
      const image = await reader.find(name, (each) =>
        hasTokenHash(token, transferHashes(each, parts.caches)),
      );
      return image === undefined ? forbiddenAnswer : await dataOf(parts, { kind, name, object: image });
    },
  };
}

/** Copies that the controller `disks` wants. The policy can't protect a key of the status that is not the UUID of a known disk. */
function transferHashes(
  { spec, status }: BackingImage,
  { schedules }: Pick<AgentParts['caches'], 'schedules'>,
): readonly (string | undefined)[] {
  return Object.entries(status?.diskFileStatusMap ?? {})
    .filter(([uuid]) => Object.hasOwn(spec?.diskFileSpecMap ?? {}, uuid) && schedules.get(uuid) !== undefined)
    .map(([, file]) => file.transferTokenSHA256);
}

async function readReplica(
  parts: AgentParts,
  { name, token }: { readonly name: string; readonly token: string },
  bucket: TokenBucket,
): Promise<ReadableData | AgentAnswer> {
  const { caches, context } = parts;
  const replica = caches.replicas.get(name);
  const volumeName = replica?.spec?.volumeName;
  if (replica === undefined || volumeName === undefined) return forbiddenAnswer;
  const isAllowed = (others: Iterable<Replica>) => {
    const siblings = [...others].filter((other) => haveSameVolume(replica, other));
    const images = [...caches.images.values()].filter(
      ({ spec }) => spec?.source?.volume?.name === volumeName,
    );
    const ofSiblings = siblings.map(({ status }) => status?.transferTokenSHA256);
    return hasTokenHash(token, [...ofSiblings, ...images.flatMap((image) => transferHashes(image, caches))]);
  };
  if (!isAllowed(caches.replicas.values())) {
    // The token may be newer than the cache.
    if (!bucket.tryTake(context.clock.monotonicMs())) return forbiddenAnswer;
    const fieldSelector = `spec.volumeName=${volumeName}`;
    const { items } = await context.cluster.resource(replicas).list({ fieldSelector });
    if (!isAllowed(items)) return forbiddenAnswer;
  }
  return await dataOf(parts, { kind: 'Replica', name, object: replica });
}

async function dataOf(
  parts: AgentParts,
  {
    kind,
    name,
    object,
  }: { readonly kind: 'Replica' | 'BackingImage'; name: string; object: Replica | BackingImage },
): Promise<ReadableData | AgentAnswer> {
  for (const disk of parts.disks.all) {
    const folder = dataFolderOn(parts, disk, { kind, name });
    const state = await folder.inspect();
    if (state.kind !== 'known' || state.identity.uid !== object.metadata?.uid) continue;
    const { dataBytes, occupiedBytes, identity } = state;
    if (dataBytes === undefined) continue;
    // The data of a replica changes; its identity has the checksum of the image that it began with.
    const sha512 = kind === 'BackingImage' ? identity.sha512 : undefined;
    return { folder, bytes: dataBytes, occupiedBytes, sha512 };
  }
  return { status: 404, message: `node ${parts.nodeName} has no complete data of ${name}` };
}
