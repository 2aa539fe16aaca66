import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import type { CsiRequestInit } from '../../csi/csi-methods.ts';
import { InProcessDriver } from '../../csi/in-process-driver.ts';
import { forbidden } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resources.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { silentLog } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { drivesServices } from '../drives-services.ts';
import { NodeDriver } from '../node/node-driver.ts';
import { CrashPlan, crashingHost } from './crashing-host.ts';
import { callOptions, DrivesFixture, mountOnce, uuidOf } from './drives-fixture.ts';
import { FakeHost } from './fake-host.ts';

const mib = 2 ** 20;
/** A label that the node service reports beside the well-known ones. */
export const rackKey = 'example.com/rack';
const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** An API server with drives, a machine that has them, and the node service between the two. */
export class NodeFixture {
  readonly fixture: DrivesFixture;
  readonly folder: string;
  readonly drivesRoot: string;
  readonly host: FakeHost;
  readonly crash = new CrashPlan();
  /** Metrics of the process that runs now. */
  metrics = new Metrics();
  /** Whether RBAC keeps the node service from reading Nodes. */
  mayNotReadNodes = false;
  /** The directory that corresponds to `/var/lib/kubelet`. */
  readonly kubelet: string;
  #stop: () => Promise<unknown> = async () => {};
  #starts = 0;
  #driver: InProcessDriver | undefined;
  #node: NodeDriver | undefined;

  private constructor(fixture: DrivesFixture) {
    this.fixture = fixture;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'drives-node-')));
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    this.drivesRoot = join(this.folder, 'drives');
    this.kubelet = join(this.folder, 'kubelet');
    mkdirSync(this.kubelet);
    this.host = new FakeHost(this.folder);
  }

  /** One drive, `n1-a`, of 1 GiB, unless others are wanted. */
  static async start(sizes: Readonly<Record<string, number>> = { 'n1-a': 1024 * mib }): Promise<NodeFixture> {
    const node = new NodeFixture(await DrivesFixture.start());
    for (const [name, bytes] of Object.entries(sizes)) await node.addDrive(name, bytes);
    await node.restart();
    return node;
  }

  /** A device with a filesystem, and then its Drive, without status: the node service never sees the Drive without its device. */
  async addDrive(name: string, bytes: number): Promise<Drive> {
    await this.host.connect(`/dev/${name}`, uuidOf(name), bytes);
    return await this.fixture.newDrive(name);
  }

  /** Ends the process of the node service, wherever it is, and starts another one. */
  async restart(): Promise<void> {
    await this.#stop();
    this.crash.plan(0);
    const { clock } = this.fixture;
    const random = seededRandom(`node ${this.#starts++}`);
    const supervisor = new Supervisor({ clock, random: random.fork('work'), onCrash: () => {} });
    const stop = new AbortController();
    const cluster = new InterceptedCluster(this.fixture.cluster, {
      before: async (call) => {
        await this.crash.read(async () => {});
        if (this.mayNotReadNodes && call.resource.plural === 'nodes')
          throw forbidden(nodes, 'n1', 'the account has no such permission');
      },
      after: ({ verb }) => (writes.has(verb) ? this.crash.step(async () => {}) : undefined),
    });
    this.#stop = async () => {
      stop.abort();
      await supervisor.close();
    };
    onTestFinished(async () => void (await this.#stop()));
    const host = crashingHost(this.host, this.crash);
    const { drivesRoot } = this;
    this.metrics = new Metrics();
    const common = { cluster, clock, random, supervisor, log: silentLog, metrics: this.metrics };
    this.#node = new NodeDriver({ ...common, host, drivesRoot, nodeName: 'n1', topologyKeys: [rackKey] });
    await this.moving(this.#node.start(stop.signal));
    const services = drivesServices({ version: 'test', node: this.#node.methods });
    this.#driver = await InProcessDriver.connect(services, stop.signal);
  }

  /** The machine starts again; meanwhile no process runs. */
  async reboot(): Promise<void> {
    await this.#stop();
    await this.host.reboot();
    await this.restart();
  }

  get driver(): InProcessDriver {
    return this.#driver!;
  }

  get node(): NodeDriver {
    return this.#node!;
  }

  path(name: string): string {
    return join(this.kubelet, name);
  }

  /** Adds an entry to a ledger, as CreateVolume does. */
  async addVolume(name: string, sizeBytes: number, drive = 'n1-a', more: object = {}): Promise<void> {
    const { spec } = await this.fixture.get(drive);
    const volumes = [...(spec?.volumes ?? []), { name, sizeBytes, ...more }];
    await this.fixture.merge(drive, {
      metadata: { finalizers: ['stowage.dev/drive-protection'] },
      spec: { volumes },
    });
  }

  /** Sets an entry to Releasing, as DeleteVolume does. */
  async releaseVolume(name: string, drive = 'n1-a'): Promise<void> {
    const { spec } = await this.fixture.get(drive);
    const volumes = (spec?.volumes ?? []).map((entry) =>
      entry.name === name ? { ...entry, state: 'Releasing' } : entry,
    );
    await this.fixture.merge(drive, { spec: { volumes } });
  }

  stage(volumeId: string, more: Partial<CsiRequestInit<'NodeStageVolume'>> = {}) {
    const request = {
      volumeId,
      stagingTargetPath: this.path(`stage-${volumeId}`),
      volumeCapability: mountOnce,
    };
    return this.driver.call('NodeStageVolume', { ...request, ...more } as never, callOptions);
  }

  publish(volumeId: string, more: Partial<CsiRequestInit<'NodePublishVolume'>> = {}) {
    const request = {
      volumeId,
      stagingTargetPath: this.path(`stage-${volumeId}`),
      targetPath: this.path(`pod-${volumeId}`),
      volumeCapability: mountOnce,
    };
    return this.driver.call('NodePublishVolume', { ...request, ...more } as never, callOptions);
  }

  unpublish(volumeId: string, targetPath = this.path(`pod-${volumeId}`)) {
    return this.driver.call('NodeUnpublishVolume', { volumeId, targetPath }, callOptions);
  }

  unstage(volumeId: string, stagingTargetPath = this.path(`stage-${volumeId}`)) {
    return this.driver.call('NodeUnstageVolume', { volumeId, stagingTargetPath }, callOptions);
  }

  /** An inline volume of the pod `default/web`. */
  publishInline(volumeId: string, attributes: Readonly<Record<string, string>>) {
    const volumeContext = {
      'csi.storage.k8s.io/ephemeral': 'true',
      'csi.storage.k8s.io/pod.namespace': 'default',
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.uid': 'uid-web',
      ...attributes,
    };
    return this.publish(volumeId, { volumeContext, stagingTargetPath: '' });
  }

  /** Lets virtual time pass until the condition holds. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await this.#pass();
  }

  /** Lets virtual time pass until the promise settles. */
  async moving<R>(promise: Promise<R>): Promise<R> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    while (!isSettled) await this.#pass();
    return await promise;
  }

  async #pass(): Promise<void> {
    await this.fixture.clock.advance(500);
    // Files are outside of virtual time.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
