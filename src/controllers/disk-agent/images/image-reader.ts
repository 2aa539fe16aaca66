import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { TokenBucket } from '../../../runtime/token-bucket.ts';
import type { AgentParts } from '../agent-parts.ts';

/** Clients without a valid token must not burden the API server. */
const liveReads = { burst: 20, tokensPerSecond: 5 };

/** Reads images for requests: a token may be newer than the cache. */
export class ImageReader {
  readonly #parts: Pick<AgentParts, 'context' | 'caches'>;
  readonly #bucket: TokenBucket;

  constructor(parts: Pick<AgentParts, 'context' | 'caches'>) {
    this.#parts = parts;
    this.#bucket = new TokenBucket(liveReads, parts.context.clock.monotonicMs());
  }

  /** The image in its newest known version, if the caller may use it. */
  async find(name: string, isAllowed: (image: BackingImage) => boolean): Promise<BackingImage | undefined> {
    const { caches, context } = this.#parts;
    const cached = caches.images.get(name);
    // The cache is good enough to accept a token, because tokens are not withdrawn; the state of copies must be new.
    if (cached === undefined || !isAllowed(cached)) {
      if (!this.#bucket.tryTake(context.clock.monotonicMs())) return undefined;
    }
    const client = context.cluster.resource(backingImages);
    const image = await undefinedIfNotFound(client.get({ name }));
    return image !== undefined && isAllowed(image) ? image : undefined;
  }
}
