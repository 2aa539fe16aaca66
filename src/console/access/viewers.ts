import { createHash, timingSafeEqual } from 'node:crypto';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Semaphore } from '../../runtime/semaphore.ts';
import { fullRights, type Rights } from './rights.ts';
import { readRights, type ShownResource } from './token-rights.ts';

/** A person with a token. */
export interface Viewer {
  /** Equal for requests with the same token. */
  readonly key: string;
  readonly rights: Rights;
  /** Has the viewer's own permissions; undefined for the console's own token, which has those of the process. */
  readonly cluster: Cluster | undefined;
}

export interface ViewersOptions {
  /** Allows reading everything; undefined if only tokens of the cluster are accepted. */
  readonly ownToken?: string | undefined;
  /** A client that sends this bearer token; undefined if only the own token is accepted. */
  readonly asViewer?: ((token: string) => Cluster) | undefined;
  readonly resources: readonly ShownResource[];
  readonly namespaces: () => readonly string[];
  readonly clock: Clock;
}

/** Rights that were withdrawn end a view after this time at the latest. */
export const rightsMaxAgeMs = 30_000;
/** Limit of viewers whose permissions are cached. */
const viewersMax = 1_000;
/** Limit of token checks in flight: anyone who reaches the console can make it check invalid tokens. */
const askingMax = 8;

interface Known {
  readonly readMs: number;
  readonly viewer: Promise<Viewer | undefined>;
}

/** Finds out what the holder of a token may see. Answers are kept for a short time. */
export class Viewers {
  readonly #options: ViewersOptions;
  /** Viewers by the hash of their token, so that the memory of this process has no list of tokens. */
  readonly #known = new Map<string, Known>();
  readonly #asking = new Semaphore(askingMax);

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  /** Undefined if the token is not accepted. Rejects if the cluster could not be asked. */
  async viewerOf(token: string): Promise<Viewer | undefined> {
    const key = hashOf(token).toString('base64');
    if (this.isOwn(token)) return { key, rights: fullRights, cluster: undefined };
    const { asViewer, clock } = this.#options;
    if (asViewer === undefined) return undefined;
    const known = this.#known.get(key);
    if (known !== undefined && clock.monotonicMs() - known.readMs < rightsMaxAgeMs) return await known.viewer;
    const viewer = this.#read(key, asViewer(token));
    this.#remember(key, viewer);
    try {
      return await viewer;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  async #read(key: string, cluster: Cluster): Promise<Viewer | undefined> {
    const { resources, namespaces } = this.#options;
    const { signal } = new AbortController();
    return await this.#asking.run(signal, async () => {
      const rights = await readRights(cluster, resources, namespaces(), signal);
      return rights === undefined ? undefined : { key, rights, cluster };
    });
  }

  #remember(key: string, viewer: Promise<Viewer | undefined>): void {
    this.#known.delete(key);
    this.#known.set(key, { readMs: this.#options.clock.monotonicMs(), viewer });
    if (this.#known.size <= viewersMax) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /** Whether it is the token that the process has printed. */
  isOwn(token: string): boolean {
    const { ownToken } = this.#options;
    return ownToken !== undefined && timingSafeEqual(hashOf(ownToken), hashOf(token));
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
