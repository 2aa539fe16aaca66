import { ApiError } from '../../../kube/api-error.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import { type Ids, idsFrom } from '../../../runtime/ids.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { bootstrap } from '../bootstrap.ts';
import { canonicalObject } from '../canonical-object.ts';
import { EmbeddedRegistry } from '../embedded-registry.ts';
import type {
  DeleteResult,
  DeletionRequest,
  ListQuery,
  RegistryEvent,
  UpdateContext,
  WatchQuery,
  WriteResult,
} from '../registry.ts';
import { GatedDurability } from './gated-durability.ts';

/** An object of any kind. */
export interface AnyObject extends StoredObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

type Write = Partial<UpdateContext>;

/** A registry over a store whose durability the test controls, with shortcuts for calls. */
export class RegistryFixture {
  readonly gate = new GatedDurability();
  readonly store = new MemoryStore({ durability: this.gate });
  readonly clock = new VirtualClock();
  readonly registry: EmbeddedRegistry;
  readonly warnings: string[] = [];

  private constructor(ids: Ids) {
    this.registry = new EmbeddedRegistry({
      store: this.store,
      kinds: builtInKindCatalog(),
      clock: this.clock,
      ids,
    });
  }

  /** Contains the namespaces and classes that every cluster has. */
  static async start(): Promise<RegistryFixture> {
    const fixture = new RegistryFixture(idsFrom(seededRandom('registry fixture')));
    await bootstrap(fixture.registry);
    return fixture;
  }

  /** `pods`, or `events.k8s.io/events` if two kinds have the plural. */
  kind(name: string): ServedKind {
    const [plural = '', group] = name.split('/').reverse();
    const found = this.registry.kinds.all.find(
      (kind) => kind.plural === plural && (group === undefined || kind.group === group),
    );
    if (found === undefined) throw new Error(`no kind ${name}`);
    return found;
  }

  async create(name: string, object: object, write: Write = {}): Promise<AnyObject> {
    const kind = this.kind(name);
    const decoded = canonicalObject(kind, { ...object, metadata: metadataOf(object) });
    const namespace = kind.namespaced ? (decoded.metadata.namespace ?? 'default') : undefined;
    const { object: created } = await this.registry.create(kind, namespace, decoded, this.#write(write));
    return created as AnyObject;
  }

  async get(name: string, key: string, subresource?: string): Promise<AnyObject> {
    const { object } = await this.registry.get(this.kind(name), this.#key(name, key), { subresource });
    return object as AnyObject;
  }

  async update(name: string, object: object, write: Write = {}): Promise<WriteResult> {
    const kind = this.kind(name);
    const decoded = canonicalObject(kind, object, 'Warn', () => {}, write.subresource);
    const key = this.#key(name, decoded.metadata.name ?? '', decoded.metadata.namespace);
    return await this.registry.update(kind, key, decoded, this.#write(write));
  }

  async patch(name: string, key: string, body: unknown, write: Write = {}): Promise<AnyObject> {
    const patch = { type: 'merge', body, fieldValidation: 'Strict' } as const;
    const context = this.#write(write);
    const written = await this.registry.patch(this.kind(name), this.#key(name, key), patch, context);
    return written.snapshot.object as AnyObject;
  }

  async delete(
    name: string,
    key: string,
    options: DeletionRequest = {},
    write: Write = {},
  ): Promise<DeleteResult> {
    return await this.registry.delete(this.kind(name), this.#key(name, key), options, this.#write(write));
  }

  async post(name: string, key: string, subresource: string, body: object, write: Write = {}) {
    const kind = this.kind(name);
    const decoded = canonicalObject(
      kind,
      { metadata: { name: key }, ...body },
      'Strict',
      () => {},
      subresource,
    );
    return await this.registry.post(kind, this.#key(name, key), subresource, decoded, this.#write(write));
  }

  async list(name: string, query: ListQuery = {}) {
    const page = await this.registry.list(this.kind(name), query);
    return { ...page, names: page.items.map(({ object }) => object.metadata.name) };
  }

  /** Records the events of a watch. */
  async watch(name: string, query: WatchQuery = {}) {
    const events: RegistryEvent[] = [];
    const handle = await this.registry.watch(this.kind(name), query, {
      events: (more) => void events.push(...more),
    });
    return { events, handle, described: () => events.map(describeEvent) };
  }

  #key(name: string, key: string, namespace = 'default'): ObjectKey {
    return this.kind(name).namespaced ? { namespace, name: key } : { name: key };
  }

  #write(write: Write): UpdateContext {
    const warn = (text: string) => void this.warnings.push(text);
    return { manager: 'test', user: 'test', warn, ...write };
  }
}

/** The error of a call, as `REASON: message`. */
export async function errorOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.reason ?? error.status.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the call was expected to be refused');
}

function metadataOf(object: object): object {
  return { namespace: undefined, ...(object as { metadata?: object }).metadata };
}

function describeEvent(event: RegistryEvent): string {
  if (event.type === 'BOOKMARK') return `BOOKMARK${event.isInitialEnd ? ' end' : ''}`;
  const { metadata } = event.snapshot.object;
  return `${event.type} ${metadata.name}@${metadata.resourceVersion}`;
}
