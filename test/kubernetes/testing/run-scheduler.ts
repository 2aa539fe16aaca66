import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { Pod, PodSpec } from '../../../src/kube/api/core.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import {
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../src/kube/resources.ts';
import { labels, noProvisioner } from '../../../src/kube/well-known.ts';
import { StowageProcess } from '../../up/stowage-process.ts';
import type { TestBed } from '../test-bed.ts';

export const accessModes = ['ReadWriteOnce'] as const;
export const main = { name: 'main', image: 'pause' } as const;

/** `stowage run`, until the test ends. */
export function runScheduler(kubeconfig: string, ...flags: readonly string[]): StowageProcess {
  const stowage = new StowageProcess(['run', '--kubeconfig', kubeconfig, ...flags]);
  onTestFinished(() => stowage.kill());
  return stowage;
}

/** Waits without a limit of its own; the test's timeout applies. */
export async function until(isSo: () => Promise<boolean> | boolean, pollMs = 20): Promise<void> {
  while (!(await isSo())) await sleep(pollMs);
}

/** Far more than anything takes on a busy machine. */
const patienceMs = 240_000;

/**
 * Repeats the check until none of its expectations fails, for a state that other programs bring about. Each check judges what it reads itself.
 * Rejects with the last failure.
 */
export async function untilPasses(check: () => unknown, pollMs = 200): Promise<void> {
  await vi.waitFor(check, { timeout: patienceMs, interval: pollMs });
}

/** Until the user may do it, such as `list nodes`: the API server reads roles and bindings by watches, some time after they were created. */
export async function untilAllowed(
  bed: TestBed,
  user: string,
  ...question: readonly string[]
): Promise<void> {
  await until(async () => (await bed.kubectl(['auth', 'can-i', ...question, '--as', user])).code === 0, 100);
}

/**
 * Until an Event about the object of this name is written. What happens again before that would only be counted by the same write, and the Event not
 * be patched.
 */
export async function untilEvent(cluster: Cluster, name: string, reason: string): Promise<void> {
  await until(async () => {
    const { items } = await cluster.resource(events).list();
    return items.some((event) => event.regarding?.name === name && event.reason === reason);
  }, 200);
}

export async function untilPrinted(stowage: StowageProcess, text: string): Promise<void> {
  await until(() => stowage.stderr.includes(text));
}

/** A kubeconfig for a service account, with a token that the API server issues. */
export async function serviceAccountKubeconfig(
  bed: TestBed,
  namespace: string,
  name: string,
): Promise<string> {
  const { stdout, stderr, code } = await bed.kubectl(['create', 'token', name, '--namespace', namespace]);
  if (code !== 0) throw new Error(stderr);
  const config = JSON.parse(readFileSync(bed.kubeconfig, 'utf8'));
  config.users[0].user = { token: stdout.trim() };
  const path = join(bed.folder, 'data', `kubeconfig-${name}`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

export async function makeNode(
  cluster: Cluster,
  name: string,
  resources: Readonly<Record<string, string>> = {},
): Promise<void> {
  const all = { cpu: '4', memory: '8Gi', pods: '110', ...resources };
  await cluster.resource(nodes).create({
    metadata: { name, labels: { [labels.hostname]: name } },
    status: { capacity: all, allocatable: all },
  });
}

/** A class whose claims wait for their first consumer. */
export async function makeClass(cluster: Cluster, name: string, provisioner = noProvisioner): Promise<void> {
  const binding = { provisioner, volumeBindingMode: 'WaitForFirstConsumer' } as const;
  await cluster.resource(storageClasses).create({ metadata: { name }, ...binding });
}

export interface Disk {
  readonly node: string;
  readonly storageClassName: string;
  readonly storage?: string;
}

export async function makeDisk(
  cluster: Cluster,
  name: string,
  { node, storageClassName, storage = '1Gi' }: Disk,
): Promise<void> {
  const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [node] }] as const;
  await cluster.resource(persistentVolumes).create({
    metadata: { name },
    spec: {
      capacity: { storage },
      accessModes,
      storageClassName,
      local: { path: `/mnt/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  });
}

export interface PodOptions {
  readonly namespace?: string;
  /** The class of each claim. Claims are named after the pod, with a number. */
  readonly claimsOf?: readonly string[];
  readonly spec?: Partial<PodSpec>;
}

/** A pod for our scheduler. */
export async function makePod(cluster: Cluster, name: string, options: PodOptions = {}): Promise<Pod> {
  for (const claim of claimsFor(name, options)) await cluster.resource(persistentVolumeClaims).create(claim);
  return await cluster.resource(pods).create(podFor(name, options));
}

/** The same if some of these objects exist already: an earlier call may have failed after the server had stored them. */
export async function makePodIfAbsent(cluster: Cluster, name: string, options: PodOptions): Promise<void> {
  const ifAbsent = async (created: Promise<unknown>) => {
    await created.catch((error: unknown) => {
      if (!isReason(error, 'AlreadyExists')) throw error;
    });
  };
  for (const claim of claimsFor(name, options))
    await ifAbsent(cluster.resource(persistentVolumeClaims).create(claim));
  await ifAbsent(cluster.resource(pods).create(podFor(name, options)));
}

function claimsFor(pod: string, { namespace = 'default', claimsOf = [] }: PodOptions) {
  return claimsOf.map((storageClassName, position) => ({
    metadata: { namespace, name: claimName(pod, position) },
    spec: { accessModes, storageClassName, resources: { requests: { storage: '1Gi' } } },
  }));
}

function podFor(name: string, { namespace = 'default', claimsOf = [], spec = {} }: PodOptions) {
  const volumes = claimsOf.map((_, position) => ({
    name: `v${position}`,
    persistentVolumeClaim: { claimName: claimName(name, position) },
  }));
  return {
    metadata: { namespace, name },
    spec: { schedulerName: 'stowage', containers: [main], volumes, ...spec },
  };
}

function claimName(pod: string, position: number): string {
  return position === 0 ? pod : `${pod}.${position}`;
}

export async function nodeOf(cluster: Cluster, name: string, namespace = 'default'): Promise<string> {
  let node = '';
  await until(async () => {
    node = (await cluster.resource(pods).get({ namespace, name })).spec?.nodeName ?? '';
    return node !== '';
  });
  return node;
}
