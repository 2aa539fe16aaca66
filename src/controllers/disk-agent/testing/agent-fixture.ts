import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as realSleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import {
  type BackingImage,
  type BackingImageSpec,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import { type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../../kube/stowage/storage-node.ts';
import { type DiskVolumeSpec, diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { systemIds } from '../../../runtime/ids.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { disksController } from '../../disks/disks-controller.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { diskAgentController } from '../disk-agent-controller.ts';
import { hostFiles } from '../files/host-files.ts';
import { CrashPoint } from './crash-point.ts';
import { WatchedFiles } from './watched-files.ts';

const apiVersion = 'stowage.dev/v1alpha1';
/** How long a test waits for something, in virtual time; sockets need real time meanwhile. */
const untilMaxMs = 10 * 60_000;
const stepMs = 50;
const settleStepMs = 500;

/** Agents on real directories, and the controller `disks`, on a cluster under virtual time. Time does not pass while files are accessed. */
export class AgentFixture {
  readonly environment: VirtualTimeCluster;
  /** Crashes the process that runs the agents; `disks` runs in another one. */
  readonly crash = new CrashPoint();
  readonly files = new WatchedFiles(hostFiles(systemIds), this.crash);
  /** The directories of disks are below it. */
  readonly root: string;
  /** Messages of copies that failed; the controller `disks` takes a failed copy from its disk immediately. */
  readonly failures: string[] = [];
  #run: Supervisor | undefined;

  private constructor(environment: VirtualTimeCluster, root: string) {
    this.environment = environment;
    this.root = root;
  }

  /** A StorageNode with one disk in a new directory for each name; agents for all of them. */
  static async start(...nodeNames: readonly string[]): Promise<AgentFixture> {
    const environment = await VirtualTimeCluster.start();
    const root = await mkdtemp(join(tmpdir(), 'disk-agent-'));
    const fixture = new AgentFixture(environment, root);
    const abort = new AbortController();
    onTestFinished(async () => {
      abort.abort();
      await fixture.#run?.close();
      await environment[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    });
    await environment.installOwnKinds();
    void fixture.#recordFailures(abort.signal);
    environment.run([disksController()]);
    for (const name of nodeNames) await mkdir(fixture.diskPath(name));
    fixture.runAgents(nodeNames);
    for (const name of nodeNames)
      await fixture.until(async () => (await fixture.diskUUID(name)) !== undefined);
    return fixture;
  }

  async #recordFailures(signal: AbortSignal): Promise<void> {
    for await (const event of this.cluster.resource(backingImages).watch({ signal })) {
      if (event.type === 'BOOKMARK') continue;
      for (const { state, message = '' } of Object.values(event.object.status?.diskFileStatusMap ?? {}))
        if (state === 'failed') this.failures.push(message);
    }
  }

  get cluster(): Cluster {
    return this.environment.cluster;
  }

  diskPath(nodeName: string): string {
    return join(this.root, nodeName);
  }

  /** The agents as one controller. */
  #agents(nodeNames: readonly string[]): Controller {
    const nodes = new Map(nodeNames.map((name) => [name, { diskPath: this.diskPath(name) }]));
    return diskAgentController({
      diskAgent: { nodes, listenHost: '127.0.0.1', port: 0 },
      diskAgentFiles: this.files,
    });
  }

  /** Runs agents for these nodes until `stop`. */
  runAgents(nodeNames: readonly string[]): void {
    const cluster = new InterceptedCluster(this.cluster, this.crash);
    this.#run = this.environment.run([this.#agents(nodeNames)], cluster);
  }

  /** After a crash: what is left of the process ends, and another one starts. */
  async restart(nodeNames: readonly string[]): Promise<void> {
    await this.stop();
    this.crash.arm();
    this.environment.errors.length = 0;
    this.runAgents(nodeNames);
  }

  async stop(): Promise<void> {
    const closing = this.#run?.close();
    let isClosed = false;
    void closing?.then(() => {
      isClosed = true;
    });
    while (closing !== undefined && !isClosed) await this.#pass(stepMs);
    this.#run = undefined;
  }

  /** Lets time pass; file accesses finish within it. */
  async settle(ms = 3_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += settleStepMs) await this.#pass(settleStepMs);
  }

  /** Lets time pass until the condition holds. */
  async until(isReached: () => Promise<boolean>): Promise<void> {
    for (let passed = 0; passed < untilMaxMs; ) {
      if (await isReached()) return;
      // Slow operations do not depend on milliseconds.
      const ms = Math.min(settleStepMs, stepMs + passed / 20);
      await this.#pass(ms);
      passed += ms;
    }
    const { errors } = this.environment;
    throw new Error(`not reached; errors: ${errors.map(({ key, error }) => `${key}: ${error}`).join('; ')}`);
  }

  async #pass(ms: number): Promise<void> {
    await this.environment.clock.advance(0);
    // A call that ends starts the next one in a later turn.
    for (let idle = 0; idle < 3; idle = this.files.pending > 0 ? 0 : idle + 1) {
      await realSleep(this.files.pending > 0 ? 1 : 0);
      await this.environment.clock.advance(0);
    }
    await this.environment.clock.advance(ms);
  }

  // ── Objects ──

  async node(name: string): Promise<StorageNode> {
    return await this.cluster.resource(storageNodes).get({ name });
  }

  async diskUUID(nodeName: string, disk = 'default'): Promise<string | undefined> {
    const found = await undefinedIfNotFound(this.node(nodeName));
    return found?.status?.diskStatus?.[disk]?.diskUUID;
  }

  /** The condition Ready of a disk, as `STATUS REASON`. */
  async diskReady(nodeName: string, disk = 'default'): Promise<string> {
    const { status } = await this.node(nodeName);
    const ready = status?.diskStatus?.[disk]?.conditions?.find(({ type }) => type === 'Ready');
    return `${ready?.status} ${ready?.reason}`;
  }

  async addVolume(name: string, spec: DiskVolumeSpec): Promise<void> {
    const body = { apiVersion, kind: 'Volume', metadata: { name }, spec };
    await this.cluster.resource(diskVolumes).create(body);
  }

  async replicasOf(volumeName: string): Promise<readonly Replica[]> {
    const { items } = await this.cluster.resource(replicas).list();
    return items.filter(({ spec }) => spec?.volumeName === volumeName);
  }

  async untilRunning(volumeName: string, count: number): Promise<readonly Replica[]> {
    await this.until(async () => {
      const found = await this.replicasOf(volumeName);
      return found.length === count && found.every(({ status }) => status?.currentState === 'running');
    });
    return await this.replicasOf(volumeName);
  }

  async addImage(name: string, spec: BackingImageSpec): Promise<void> {
    const body = { apiVersion, kind: 'BackingImage', metadata: { name }, spec };
    await this.cluster.resource(backingImages).create(body);
  }

  async image(name: string): Promise<BackingImage> {
    return await this.cluster.resource(backingImages).get({ name });
  }

  /** The entry of a copy, as `STATE MESSAGE`. */
  async copy(imageName: string, nodeName: string): Promise<string> {
    const uuid = (await this.diskUUID(nodeName)) ?? '';
    const { status } = await this.image(imageName);
    const { state, message } = status?.diskFileStatusMap?.[uuid] ?? {};
    return message === undefined ? String(state) : `${state} ${message}`;
  }

  async untilCopy(imageName: string, nodeName: string, state: string): Promise<void> {
    await this.until(async () => (await this.copy(imageName, nodeName)).split(' ')[0] === state);
  }

  // ── Files ──

  async read(nodeName: string, path: string): Promise<Buffer> {
    return await readFile(join(this.diskPath(nodeName), path));
  }

  /** Length and occupied bytes; undefined if there is no such file. */
  async fileSize(nodeName: string, path: string): Promise<readonly [number, number] | undefined> {
    try {
      const { size, blocks } = await stat(join(this.diskPath(nodeName), path));
      return [size, blocks * 512];
    } catch {
      return undefined;
    }
  }
}
