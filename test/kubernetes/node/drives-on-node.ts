import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import { csiDrivers, csiNodes, storageClasses } from '../../../src/kube/resources.ts';
import { type Drive, drives, drivesDriver } from '../../../src/kube/stowage/drive.ts';
import { builtProgram } from '../../built-program.ts';
import { projectRoot } from '../../project-root.ts';
import { StowageProcess, temporaryFolder } from '../../up/stowage-process.ts';
import { runScheduler, untilPrinted } from '../testing/run-scheduler.ts';
import { LoopDrive } from './loop-drive.ts';
import type { RealNode } from './real-node.ts';
import { RealNodeBed } from './real-node-bed.ts';

/** `stowage drives init` refuses smaller ones. */
const driveMiB = 600;
const driverProgram = 'stowage-csi';
/** Far more than anything takes on a busy machine; then the error shows what was seen last. */
const patienceMs = 300_000;
const pollMs = 50;
const endpoint = `/var/lib/kubelet/plugins/${drivesDriver}/csi.sock`;

/** Looks until it sees what is wanted. */
export async function eventually<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (const giveUpMs = Date.now() + patienceMs; ; await sleep(pollMs)) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (Date.now() > giveUpMs) throw new Error(`not what the test waits for: ${JSON.stringify(seen)}`);
  }
}

/** A cluster with one real node that has drives, and everything of Stowage that such a cluster needs. */
export class DrivesOnNode {
  readonly node: RealNode;
  readonly cluster: Cluster;
  readonly devices: readonly LoopDrive[];
  readonly #real: RealNodeBed;

  /** Resolves when the kubelet has registered the driver, and the drives are ready. */
  static async start({ driveCount }: { readonly driveCount: number }): Promise<DrivesOnNode> {
    // Created first, so that they end last: the mounts of the node use them.
    const devices: LoopDrive[] = [];
    for (let count = 0; count < driveCount; count += 1)
      devices.push(await LoopDrive.create({ sizeMiB: driveMiB, isFormatted: false }));
    const real = await RealNodeBed.start();
    const node = await real.addNode('a');
    const started = new DrivesOnNode(real, node, await real.bed.connect(), devices);
    await started.#start();
    return started;
  }

  private constructor(real: RealNodeBed, node: RealNode, cluster: Cluster, devices: readonly LoopDrive[]) {
    this.#real = real;
    this.node = node;
    this.cluster = cluster;
    this.devices = devices;
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.#kubectl(args);
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    await this.#kubectl(['apply', '-f', '-'], JSON.stringify(list));
  }

  /** `stowage ...` on the node. */
  async stowage(...args: readonly string[]): Promise<string> {
    const { stdout } = await this.node.exec(...this.#commandLine(args));
    return stdout;
  }

  async startDriver(): Promise<void> {
    await this.node.exec('mkdir', '-p', `/var/lib/kubelet/plugins/${drivesDriver}`);
    const flags = ['--services', 'node', '--node-name', 'a', '--endpoint', `unix://${endpoint}`];
    const registration = ['--kubelet-registration', '/var/lib/kubelet/plugins_registry'];
    await this.node.startProgram(
      driverProgram,
      ...this.#commandLine(['csi', ...flags, ...registration, '--unenforced-quota']),
    );
  }

  async stopDriver(signal: NodeJS.Signals): Promise<void> {
    await this.node.stopProgram(driverProgram, signal);
  }

  /** Until the node's CSINode has the driver, which a kubelet writes for a driver that answered. */
  async untilRegistered(): Promise<void> {
    const read = async () => (await this.cluster.resource(csiNodes).get({ name: 'a' })).spec?.drivers ?? [];
    await eventually(read, (found) => found.some(({ name }) => name === drivesDriver));
  }

  async drives(): Promise<readonly Drive[]> {
    return (await this.cluster.resource(drives).list()).items;
  }

  async untilDrives(isSo: (all: readonly Drive[]) => boolean): Promise<void> {
    await eventually(() => this.drives(), isSo);
  }

  async #start(): Promise<void> {
    onTestFinished(({ task }) => {
      if (task.result?.state === 'fail')
        process.stderr.write(`--- ${driverProgram}\n${this.node.printed(driverProgram)}\n`);
    });
    await this.kubectl('apply', '--server-side', '-f', join(projectRoot, 'deploy/crds'));
    await this.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s');
    await this.#createClass();
    for (const { device } of this.devices)
      await this.stowage('drives', 'init', device, '--node-name', 'a', '--yes', ...this.#access);
    await this.startDriver();
    await this.#startControllers();
    await this.untilRegistered();
    await this.untilDrives((all) => all.every(({ status }) => status?.state === 'Ready'));
  }

  async #createClass(): Promise<void> {
    await this.cluster.resource(csiDrivers).create({
      metadata: { name: drivesDriver },
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        storageCapacity: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    });
    await this.cluster.resource(storageClasses).create({
      metadata: { name: 'stowage-drives' },
      provisioner: drivesDriver,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    });
  }

  /** The controller service, and the controllers that call it. */
  async #startControllers(): Promise<void> {
    const { kubeconfig } = this.#real.bed;
    const address = `unix://${join(temporaryFolder(), 'csi.sock')}`;
    const flags = ['--endpoint', address, '--services', 'controller', '--kubeconfig', kubeconfig];
    const controller = new StowageProcess(['csi', ...flags]);
    onTestFinished(() => controller.kill());
    const run = runScheduler(
      kubeconfig,
      ...['--controllers', 'scheduler,provisioner,expander,capacity', '--csi-address', address],
    );
    onTestFinished(({ task }) => {
      if (task.result?.state === 'fail')
        process.stderr.write(`--- controller service\n${controller.stderr}--- stowage run\n${run.stderr}\n`);
    });
    await untilPrinted(controller, 'calls are answered');
    await untilPrinted(run, 'scheduler: this process leads');
  }

  get #access(): readonly string[] {
    return ['--kubeconfig', this.node.kubeconfig];
  }

  #commandLine(args: readonly string[]): [string, ...string[]] {
    const program = builtProgram(new URL('../../../src/cli/main.ts', import.meta.url));
    return [process.execPath, program, ...args, ...(args.includes('--kubeconfig') ? [] : this.#access)];
  }

  async #kubectl(args: readonly string[], input = ''): Promise<string> {
    const { stdout, stderr, code } = await this.#real.bed.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }
}
