import { readFile } from 'node:fs/promises';
import { expect, onTestFinished } from 'vitest';
import { DefinitionController } from '../../apiserver/custom/definition-controller.ts';
import { builtInKindCatalog } from '../../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../../apiserver/store/memory-store.ts';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import type { CsiRequestInit } from '../../csi/csi-methods.ts';
import type { CsiServices } from '../../csi/csi-server.ts';
import { InProcessDriver } from '../../csi/in-process-driver.ts';
import type { CustomResourceDefinition } from '../../kube/api/apiextensions.ts';
import { customResourceDefinitions, nodes } from '../../kube/resources.ts';
import { type Drive, type DriveSpec, type DriveStatus, drives } from '../../kube/stowage/drive.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import { systemIds } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { drivesControllerService } from '../controller/controller-service.ts';
import { DriveCache } from '../controller/drive-cache.ts';
import { drivesServices } from '../drives-services.ts';

/** An embedded API server with the kind Drive, in memory, under virtual time, and any number of controllers. */
export class DrivesFixture {
  readonly clock = new VirtualClock();
  readonly #registry: EmbeddedRegistry;
  /** The connection of the test. */
  readonly cluster: EmbeddedCluster;
  /** Every stored version of every drive, in order. */
  readonly versions: Drive[] = [];
  #controllers = 0;

  private constructor() {
    const store = new MemoryStore();
    const kinds = builtInKindCatalog();
    this.#registry = new EmbeddedRegistry({ store, kinds, clock: this.clock, ids: systemIds });
    this.cluster = new EmbeddedCluster({ registry: this.#registry, manager: 'test' });
  }

  static async start(): Promise<DrivesFixture> {
    const fixture = new DrivesFixture();
    await bootstrap(fixture.#registry);
    const fail = (error: unknown) => expect.fail(String(error));
    const definitions = await DefinitionController.start({
      registry: fixture.#registry,
      clock: fixture.clock,
      onError: fail,
    });
    const stop = new AbortController();
    onTestFinished(async () => {
      stop.abort();
      await definitions.close();
    });
    await fixture.cluster.resource(customResourceDefinitions).create(await driveDefinition());
    const { resourceVersion } = await fixture.#servedList();
    void fixture.#record(resourceVersion, stop.signal);
    return fixture;
  }

  /**
   * Starts another controller with its own connection, cache and randomness; it leads whatever the others do. Unless it reads Nodes, those of
   * all drives count as existing.
   */
  async controller({ readsNodes = false } = {}): Promise<ControllerUnderTest> {
    const number = this.#controllers++;
    const cluster = new InterceptedCluster(this.cluster);
    const random = seededRandom(`controller ${number}`);
    const { clock } = this;
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const supervisor = new Supervisor({ clock, random: random.fork('work'), onCrash: onError });
    onTestFinished(async () => void (await supervisor.close()));
    const reading = { cluster, clock, random, onError };
    const known = readsNodes
      ? new Informer({ ...reading, resource: nodes, purpose: 'of drives' })
      : undefined;
    known?.start(supervisor);
    const cache = new DriveCache({ ...reading, supervisor, nodes: known });
    await cache.synced(new AbortController().signal);
    const methods = drivesControllerService({ cluster, cache, clock, random });
    const services = drivesServices({ version: 'test', controller: () => methods });
    const driver = await InProcessDriver.connect(services, new AbortController().signal);
    return { cluster, cache, services, driver, errors, stop: () => supervisor.close() };
  }

  /** Creates a drive that is ready. */
  async drive(name: string, capacityBytes: number, setup: DriveSetup = {}): Promise<Drive> {
    const created = await this.newDrive(name, setup);
    return await this.cluster
      .resource(drives)
      .update(
        { ...created, status: { capacityBytes, state: 'Ready', ...setup.status } },
        { subresource: 'status' },
      );
  }

  /** Creates a drive that no node service has seen yet. */
  async newDrive(name: string, { node = 'n1', labels = {}, spec = {} }: DriveSetup = {}): Promise<Drive> {
    return await this.cluster.resource(drives).create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name, labels },
      spec: { nodeName: node, filesystemUUID: uuidOf(name), ...spec },
    });
  }

  async get(name: string): Promise<Drive> {
    return await this.cluster.resource(drives).get({ name });
  }

  async merge(name: string, body: object, subresource?: string): Promise<Drive> {
    const options = subresource === undefined ? {} : { subresource };
    return await this.cluster.resource(drives).patch({ name }, { type: 'merge', body }, options);
  }

  async delete(name: string): Promise<void> {
    await this.cluster.resource(drives).delete({ name });
  }

  async all(): Promise<readonly Drive[]> {
    return (await this.cluster.resource(drives).list()).items;
  }

  /** The drives of each volume, by its name. */
  async placements(): Promise<ReadonlyMap<string, readonly string[]>> {
    return placementsIn(await this.all());
  }

  /** No stored version of a drive had promised more than its capacity. */
  expectNoOverdraft(): void {
    for (const { metadata, spec, status } of this.versions) {
      const sum = (spec?.volumes ?? []).reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
      if (sum > (status?.capacityBytes ?? 0) && sum > 0)
        expect.fail(`drive ${metadata?.name} promised ${sum} of ${status?.capacityBytes} bytes`);
    }
  }

  /** The definition is served a moment after it was created. */
  async #servedList(): Promise<{ readonly resourceVersion: string }> {
    for (;;) {
      try {
        return (await this.cluster.resource(drives).list()).metadata;
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  async #record(resourceVersion: string, signal: AbortSignal): Promise<void> {
    for await (const event of this.cluster.resource(drives).watch({ resourceVersion, signal }))
      if (event.type !== 'BOOKMARK') this.versions.push(event.object);
  }
}

export interface ControllerUnderTest {
  /** Its connection, for faults. */
  readonly cluster: InterceptedCluster;
  readonly cache: DriveCache;
  readonly services: CsiServices;
  readonly driver: InProcessDriver;
  readonly errors: readonly unknown[];
  stop(): Promise<unknown>;
}

export interface DriveSetup {
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<DriveSpec>;
  readonly status?: Partial<DriveStatus>;
}

export const callOptions = { signal: new AbortController().signal };

/** A capability that volumes on drives have. */
export const mountOnce = {
  accessType: { case: 'mount' as const, value: {} },
  accessMode: { mode: 1 as const },
};

/** A CreateVolume request. */
export function volumeOf(
  name: string,
  requiredBytes: number,
  more: Partial<CsiRequestInit<'CreateVolume'>> = {},
): CsiRequestInit<'CreateVolume'> {
  return {
    name,
    volumeCapabilities: [mountOnce],
    capacityRange: { requiredBytes: BigInt(requiredBytes) },
    ...more,
  } as CsiRequestInit<'CreateVolume'>;
}

/** Strict topology, as a provisioner sends it for a selected node. */
export function onNode(...nodes: readonly string[]): Partial<CsiRequestInit<'CreateVolume'>> {
  const terms = nodes.map((node) => ({ segments: { 'stowage.dev/node': node } }));
  return { accessibilityRequirements: { requisite: terms, preferred: terms } };
}

function placementsIn(all: readonly Drive[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { metadata, spec } of all)
    for (const { name } of spec?.volumes ?? [])
      found.set(name, [...(found.get(name) ?? []), metadata?.name ?? '']);
  return found;
}

/** The UUID of the filesystem of a drive. */
export function uuidOf(name: string): string {
  const digits = Buffer.from(name).toString('hex').padStart(12, '0').slice(-12);
  return `00000000-0000-4000-8000-${digits}`;
}

async function driveDefinition(): Promise<CustomResourceDefinition> {
  const lines = await readFile(new URL('../../../deploy/definitions.ndjson', import.meta.url), 'utf8');
  const all = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as CustomResourceDefinition);
  return all.find(({ metadata }) => metadata?.name === 'drives.stowage.dev') ?? expect.fail('no definition');
}
