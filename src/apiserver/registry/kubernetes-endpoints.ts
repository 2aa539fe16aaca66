import { networkInterfaces } from 'node:os';
import { isReason } from '../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { canonicalObject } from './canonical-object.ts';
import type { Registry, UpdateContext, WatchHandle } from './registry.ts';

export interface KubernetesEndpointsOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** Where the server listens. */
  readonly address: { readonly host: string; readonly port: number };
  /** Called with unexpected errors and write failures; the controller keeps running. */
  onError(error: unknown, where: string): void;
}

/** How long kube-apiserver waits between two attempts. */
const retryMs = 10_000;

const key = { namespace: 'default', name: 'kubernetes' };
const write: UpdateContext = { manager: 'kube-apiserver', user: 'system:apiserver', warn: () => {} };

/**
 * Keeps the Endpoints and the EndpointSlice of the Service `default/kubernetes`, which have no selector and so no other
 * controller. Restores them when they are changed or deleted, as the reconciler of kube-apiserver does.
 */
export class KubernetesEndpoints {
  readonly #options: KubernetesEndpointsOptions;
  readonly #wanted: readonly WantedObject[];
  readonly #watches: WatchHandle[] = [];
  #retry: Timer | undefined;
  #isClosed = false;
  #isStale = false;
  #work: Promise<void> | undefined;

  private constructor(options: KubernetesEndpointsOptions) {
    this.#options = options;
    this.#wanted = wantedObjects(options);
  }

  static async start(options: KubernetesEndpointsOptions): Promise<KubernetesEndpoints> {
    const controller = new KubernetesEndpoints(options);
    const query = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
    const listener = { events: () => controller.#schedule() };
    for (const { kind } of controller.#wanted) {
      controller.#watches.push(await options.registry.watch(kind, query, listener));
    }
    controller.#schedule();
    return controller;
  }

  /** Resolves when both objects are as they should be, or an attempt has failed. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    for (const watch of this.#watches) watch.close();
    await this.#work;
  }

  #schedule(): void {
    this.#isStale = true;
    this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    // Batches the events of this turn.
    await Promise.resolve();
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      for (const wanted of this.#wanted) if (!this.#isClosed) await this.#restore(wanted);
    }
    this.#work = undefined;
  }

  async #restore({ kind, object }: WantedObject): Promise<void> {
    const { registry, clock, onError } = this.#options;
    try {
      await ensureObject(registry, kind, object);
    } catch (error) {
      // A conflict is another writer's change, whose event follows.
      if (isReason(error, 'Conflict', 'AlreadyExists', 'NotFound') || this.#isClosed) return;
      onError(error, `writing the ${kind.kind} of Service ${key.namespace}/${key.name}`);
      this.#retry?.cancel();
      this.#retry = clock.after(retryMs, () => this.#schedule());
    }
  }
}

interface WantedObject {
  readonly kind: ServedKind;
  readonly object: EndpointObject;
}

interface EndpointObject {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

function wantedObjects({ registry, address }: KubernetesEndpointsOptions): readonly WantedObject[] {
  const ip = advertisedAddress(address.host);
  const ports = [{ name: 'https', port: address.port, protocol: 'TCP' }];
  const endpoints = {
    metadata: { ...key, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip }], ports }],
  };
  const slice = {
    metadata: { ...key, labels: { 'kubernetes.io/service-name': key.name } },
    addressType: ip.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports,
  };
  return [
    ...wantedObject(registry, 'v1', 'endpoints', endpoints),
    ...wantedObject(registry, 'discovery.k8s.io/v1', 'endpointslices', slice),
  ];
}

/** None if the kind is not served. */
function wantedObject(
  { kinds }: Registry,
  apiVersion: string,
  plural: string,
  object: EndpointObject,
): readonly WantedObject[] {
  const kind = kinds.byPlural(apiVersion, plural);
  return kind === undefined ? [] : [{ kind, object }];
}

/** Creates the object, or corrects the fields that differ. Labels of others stay. */
async function ensureObject(registry: Registry, kind: ServedKind, object: EndpointObject): Promise<void> {
  const found = await existing(registry, kind);
  if (found === undefined) {
    await registry.create(kind, key.namespace, canonicalObject(kind, object, 'Strict'), write);
    return;
  }
  const { metadata } = found;
  const labels = { ...metadata.labels, ...object.metadata.labels };
  const wanted = canonicalObject(kind, { ...found, ...object, metadata: { ...metadata, labels } }, 'Strict');
  if (isSemanticallyEqual(wanted, found)) return;
  await registry.update(kind, key, wanted, write);
}

async function existing(registry: Registry, kind: ServedKind): Promise<StoredObject | undefined> {
  try {
    return (await registry.get(kind, key)).object;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

/**
 * Endpoints must not be local to a machine, so a server that listens on such an address is advertised by an address of the
 * machine, as kube-apiserver is.
 */
function advertisedAddress(host: string): string {
  if (!isLocal(host)) return host;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = all.find(
    ({ family, internal, address }) => family === 'IPv4' && !internal && !isLocal(address),
  );
  return own?.address ?? addressOfNoMachine;
}

/** Reserved for documentation: no machine has it. */
const addressOfNoMachine = '192.0.2.1';

function isLocal(host: string): boolean {
  return !/^[\d.]+$|:/.test(host) || /^(?:127\.|0\.0\.0\.0$|169\.254\.|::|fe80:)/.test(host);
}
