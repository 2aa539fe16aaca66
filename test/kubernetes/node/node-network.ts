import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withBuildLock } from '../build-lock.ts';
import { runCommand, runIfPossible } from './commands.ts';

/** Networks that test beds of this machine can use at the same time. */
const networksMax = 64;
const nodesMax = 4;

/**
 * The bridge that connects nodes, their pods and this machine. One process after the other takes a number that no link has, so that beds of
 * several processes get different networks. Nodes have 10.88.NUMBER.11 and following, their pods a quarter of 10.89.NUMBER.0/24 each.
 */
export class NodeNetwork {
  readonly bridge: string;
  readonly #number: number;

  static async create(): Promise<NodeNetwork> {
    return await withBuildLock(
      join(tmpdir(), 'stowage-node-network.lock'),
      () => NodeNetwork.#reserveAny(),
      () => {},
    );
  }

  static async #reserveAny(): Promise<NodeNetwork> {
    await removeAbandoned();
    for (let number = 1; number <= networksMax; number += 1) {
      const network = new NodeNetwork(number);
      if (await network.#reserve()) return network;
    }
    throw new Error(`all ${networksMax} networks are in use; remove links stow* with ip link del`);
  }

  private constructor(number: number) {
    this.#number = number;
    this.bridge = `stow${number}-${process.pid}`;
  }

  /** The address of this machine. */
  get address(): string {
    return `10.88.${this.#number}.1`;
  }

  nodeAddress(index: number): string {
    return `10.88.${this.#number}.${11 + index}`;
  }

  podRange(index: number): string {
    if (index >= nodesMax) throw new Error(`a network has addresses for ${nodesMax} nodes`);
    return `10.89.${this.#number}.${index * (256 / nodesMax)}/26`;
  }

  /** The API server listens on all addresses, and reaches kubelets by their addresses. */
  get apiServerFlags(): Readonly<Record<string, string>> {
    return {
      'bind-address': '0.0.0.0',
      'advertise-address': this.address,
      'kubelet-preferred-address-types': 'InternalIP',
    };
  }

  /** Connects the network namespace of the process to the bridge. */
  async connect(pid: number, index: number): Promise<void> {
    const link = this.#link(index);
    await runCommand(
      'ip',
      'link',
      'add',
      link,
      'mtu',
      '1400',
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      `${pid}`,
    );
    await runCommand('ip', 'link', 'set', link, 'master', this.bridge, 'up');
    const inside = (...args: readonly string[]) => runCommand('nsenter', '-t', `${pid}`, '-n', 'ip', ...args);
    await inside('link', 'set', 'eth0', 'up');
    await inside('addr', 'add', `${this.nodeAddress(index)}/24`, 'dev', 'eth0');
    await inside('route', 'add', 'default', 'via', this.address);
    // Pods of different nodes reach each other without this machine, which may not forward.
    for (let other = 0; other < nodesMax; other += 1)
      if (other !== index) await inside('route', 'add', this.podRange(other), 'via', this.nodeAddress(other));
    await runCommand('ip', 'route', 'replace', this.podRange(index), 'via', this.nodeAddress(index));
  }

  /** This machine's end of the link to a node. */
  #link(index: number): string {
    return `stv${this.#number}-${index}`;
  }

  async remove(): Promise<void> {
    // The kernel removes the links of a node some time after its last process: the next bed with this number has links of the same names.
    for (let index = 0; index < nodesMax; index += 1)
      await runIfPossible('ip', 'link', 'del', this.#link(index));
    // Its routes go with it.
    await runIfPossible('ip', 'link', 'del', this.bridge);
  }

  /** The address can be used once; the link's name contains the process, so that abandoned links are recognized. */
  async #reserve(): Promise<boolean> {
    const { stdout } = await runCommand('ip', '-4', '-o', 'addr');
    if (stdout.includes(` ${this.address}/`)) return false;
    try {
      await runCommand('ip', 'link', 'add', this.bridge, 'type', 'bridge');
      await runCommand('ip', 'addr', 'add', `${this.address}/24`, 'dev', this.bridge);
      await runCommand('ip', 'link', 'set', this.bridge, 'up');
      return true;
    } catch {
      // Not the links of nodes: they are another bed's.
      await runIfPossible('ip', 'link', 'del', this.bridge);
      return false;
    }
  }
}

/** Links of processes that were killed. */
async function removeAbandoned(): Promise<void> {
  const { stdout } = await runCommand('ip', '-o', 'link', 'show', 'type', 'bridge');
  for (const [, link = '', pid = ''] of stdout.matchAll(/\b(stow\d+-(\d+))\b/g)) {
    if (!existsSync(`/proc/${pid}`)) await runIfPossible('ip', 'link', 'del', link);
  }
}
