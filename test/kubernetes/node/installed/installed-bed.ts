import { onTestFinished } from 'vitest';
import type { Cluster } from '../../../../src/cluster/cluster.ts';
import { pods } from '../../../../src/kube/resources.ts';
import { builtProgram } from '../../../built-program.ts';
import { stowageImage } from '../../image/stowage-image.ts';
import { type ChartValues, chartFolder, helm, valueFlags } from '../../testing/helm.ts';
import { runCommand } from '../commands.ts';
import { eventually } from '../drives-on-node.ts';
import type { RealNode } from '../real-node.ts';
import { RealNodeBed } from '../real-node-bed.ts';

const namespace = 'kube-system';
const release = 'stowage';
const logLines = 60;

/** A cluster with two real nodes, `a` and `b`, on which Helm has installed the chart with the image of the current sources. */
export class InstalledBed {
  readonly a: RealNode;
  readonly b: RealNode;
  readonly cluster: Cluster;
  readonly #real: RealNodeBed;

  static async start(): Promise<InstalledBed> {
    const { archive } = await stowageImage();
    const real = await RealNodeBed.start({ scheduler: true, images: [archive] });
    const a = await real.addNode('a');
    const b = await real.addNode('b');
    const bed = new InstalledBed(real, [a, b], await real.bed.connect());
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await bed.#showState();
    });
    return bed;
  }

  private constructor(real: RealNodeBed, [a, b]: readonly [RealNode, RealNode], cluster: Cluster) {
    this.#real = real;
    this.a = a;
    this.b = b;
    this.cluster = cluster;
  }

  /** `helm upgrade --install`; resolves when all that it installed runs. */
  async install(values: ChartValues): Promise<void> {
    // The nodes have the image; there is no registry to ask for another.
    const given = { ...values, image: { pullPolicy: 'Never' } };
    await helm(
      ['upgrade', '--install', release, chartFolder, `--namespace=${namespace}`, ...valueFlags(given)],
      this.#real.bed,
    );
    await this.untilRolledOut();
  }

  async uninstall(): Promise<void> {
    await helm(['uninstall', release, `--namespace=${namespace}`], this.#real.bed);
    const installed = [
      'get',
      'pods',
      `--namespace=${namespace}`,
      '-l',
      'app.kubernetes.io/name=stowage',
      '-o',
      'name',
    ];
    await eventually(
      () => this.kubectl(...installed),
      (names) => names === '',
    );
  }

  async untilRolledOut(): Promise<void> {
    const names = await this.kubectl(
      'get',
      'deployments,daemonsets',
      `--namespace=${namespace}`,
      '-o',
      'name',
    );
    for (const name of names.split('\n'))
      await this.kubectl('rollout', 'status', name, `--namespace=${namespace}`, '--timeout=300s');
  }

  /** Deletes the pods of a component, on one node or on all. Its controller creates new ones. */
  async deletePods(component: string, node?: RealNode): Promise<void> {
    const where = node === undefined ? [] : ['--field-selector', `spec.nodeName=${node.name}`];
    const labels = ['-l', `app.kubernetes.io/component=${component}`];
    await this.kubectl('delete', 'pods', `--namespace=${namespace}`, ...labels, ...where);
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.#kubectl(args);
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await this.kubectlWith(list, 'apply', '-f', '-');
  }

  /** Runs a program with an input. */
  async kubectlWith(input: string, ...args: readonly string[]): Promise<string> {
    return await this.#kubectl(args, input);
  }

  async untilReady(...names: readonly string[]): Promise<void> {
    for (const name of names)
      await this.kubectl('wait', '--for=create', '--for=condition=Ready', `pod/${name}`, '--timeout=300s');
  }

  /** Waits until another pod has the name, then until it runs. */
  async untilReplaced(name: string, uid: string): Promise<void> {
    await eventually(
      () => this.uidOf(name).catch(() => uid),
      (found) => found !== uid,
    );
    await this.untilReady(name);
  }

  async uidOf(name: string): Promise<string> {
    return (await this.cluster.resource(pods).get({ namespace: 'default', name })).metadata?.uid ?? '';
  }

  async nodeOf(name: string): Promise<string | undefined> {
    return (await this.cluster.resource(pods).get({ namespace: 'default', name })).spec?.nodeName;
  }

  async exec(pod: string, ...command: readonly string[]): Promise<string> {
    return await this.kubectl('exec', pod, '--', ...command);
  }

  /** `stowage ...` on this machine, as the admin. */
  async stowage(...args: readonly string[]): Promise<string> {
    const program = builtProgram(new URL('../../../../src/cli/main.ts', import.meta.url));
    const access = ['--kubeconfig', this.#real.bed.kubeconfig];
    const { stdout } = await runCommand(process.execPath, program, ...args, ...access);
    return stdout;
  }

  async #kubectl(args: readonly string[], input = ''): Promise<string> {
    const { stdout, stderr, code } = await this.#real.bed.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  async #showState(): Promise<void> {
    const show = async (...args: readonly string[]) => {
      const { stdout, stderr } = await this.#real.bed.kubectl(args, '');
      process.stderr.write(`--- kubectl ${args.join(' ')}\n${stdout}${stderr}\n`);
    };
    await show('get', 'pods,pvc,pv', '-A', '-o', 'wide');
    await show('get', 'events', '-A', '--sort-by=.lastTimestamp');
    const ours = ['-n', namespace, '-l', 'app.kubernetes.io/name=stowage'];
    await show(
      'logs',
      ...ours,
      '--all-containers',
      '--prefix',
      `--tail=${logLines}`,
      '--max-log-requests=20',
    );
  }
}
