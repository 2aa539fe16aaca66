/** Versions run side by side while one replaces the other, and back: no pod is bound twice, and none is lost. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { packageVersion } from '../../src/io/files/package-version.ts';
import { leases, persistentVolumeClaims, persistentVolumes, pods } from '../../src/kube/resources.ts';
import { announcementOf, leaseKeyOf } from '../../src/reconcile/leases/component-lease.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { otherVersion } from './testing/other-version.ts';
import { makeClass, makeDisk, makeNode, makePod, until, untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const timeout = 900_000;
const namespace = 'default';
const nodeNames = ['n1', 'n2', 'n3', 'n4'];
const podsPerStage = 12;
const stages = 5;
const podCount = podsPerStage * stages;
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    {
      level: 'Request',
      verbs: ['create', 'patch', 'update'],
      resources: [{ group: '', resources: ['pods/binding'] }],
    },
    { level: 'None' },
  ],
};

interface Upgrade {
  readonly bed: TestBed;
  readonly cluster: Cluster;
  readonly auditLog: string;
}

/** Exactly as many disks as the pods need, so that a disk that is given twice leaves a pod without. */
async function startUpgrade(): Promise<Upgrade> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-upgrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const bed = await startTestBed({
    kwok: true,
    controllerManager: { controllers: ['persistentvolume-binder-controller'] },
    apiServer: { extraFlags: { 'audit-policy-file': policy, 'audit-log-path': auditLog } },
  });
  const cluster = await bed.connect();
  await makeClass(cluster, 'local');
  for (const node of nodeNames) {
    await makeNode(cluster, node, { cpu: '100' });
    const names = Array.from({ length: podCount / nodeNames.length }, (_, at) => `${node}-${at}`);
    await Promise.all(names.map((name) => makeDisk(cluster, name, { node, storageClassName: 'local' })));
  }
  return { bed, cluster, auditLog };
}

/** Replicas of any version, each until it is stopped. */
class Replica {
  readonly process: StowageProcess;

  constructor({ bed }: Upgrade, program?: string) {
    this.process = new StowageProcess(['run', '--kubeconfig', bed.kubeconfig], undefined, {}, program);
    onTestFinished(() => this.process.kill());
    onTestFailed(() => void process.stderr.write(`--- ${this.process.pid}\n${this.process.stderr}`));
  }

  get isLeader(): boolean {
    return this.process.stderr.includes('scheduler: this process leads');
  }

  async follows(): Promise<void> {
    await until(() => /this process (leads|stands by)/.test(this.process.stderr));
  }
}

/** The version that the leader has announced. */
async function leadingVersion({ cluster }: Upgrade): Promise<string> {
  return announcementOf(await cluster.resource(leases).get(leaseKeyOf('scheduler'))).version;
}

async function untilLeads(upgrade: Upgrade, replicas: readonly Replica[], version: string): Promise<void> {
  await until(() => replicas.some(({ isLeader }) => isLeader));
  await until(async () => (await leadingVersion(upgrade)) === version);
}

/** The pods of a stage, created while the leader changes. */
async function createStage({ cluster }: Upgrade, stage: number): Promise<void> {
  const numbers = Array.from({ length: podsPerStage }, (_, at) => stage * podsPerStage + at);
  await Promise.all(numbers.map((number) => makePod(cluster, `pod-${number}`, { claimsOf: ['local'] })));
}

async function placedCount({ cluster }: Upgrade): Promise<number> {
  const { items } = await cluster.resource(pods).list({ namespace });
  return items.filter(({ spec }) => (spec?.nodeName ?? '') !== '').length;
}

/** Some pods of the stage are placed, others are being bound. */
async function untilInTheMiddleOf(upgrade: Upgrade, stage: number): Promise<void> {
  await until(async () => (await placedCount(upgrade)) > stage * podsPerStage);
}

interface BindingAttempt {
  readonly node: string;
  /** `done` if the API server has confirmed it, `refused` if it has not been carried out, `unknown` if the client was gone before the answer. */
  readonly outcome: 'done' | 'refused' | 'unknown';
}

/** What the audit log of the API server has about bindings, by pod. */
function bindingsIn(auditLog: string): ReadonlyMap<string, readonly BindingAttempt[]> {
  const attempts = new Map<string, BindingAttempt[]>();
  const lines = readFileSync(auditLog, 'utf8').split('\n');
  for (const line of lines.filter((text) => text.endsWith('}'))) {
    const { stage, objectRef, requestObject, responseStatus } = JSON.parse(line);
    if (stage === 'RequestReceived' || objectRef.subresource !== 'binding') continue;
    const known = attempts.get(objectRef.name) ?? [];
    const attempt = {
      node: requestObject?.target?.name ?? '',
      outcome: outcomeOf(responseStatus?.code ?? 0),
    };
    attempts.set(objectRef.name, [...known, attempt]);
  }
  return attempts;
}

function outcomeOf(code: number): BindingAttempt['outcome'] {
  if (code >= 200 && code < 300) return 'done';
  return code >= 400 && code < 499 ? 'refused' : 'unknown';
}

/**
 * A pod was placed once if exactly one binding was carried out. A replica that is stopped or killed may be gone before the answer: then the
 * binding counts if it names the node that the pod has, and no other was confirmed.
 */
function placements(attempts: readonly BindingAttempt[], node: string): number {
  const done = attempts.filter(({ outcome }) => outcome === 'done');
  if (done.length > 0) return done.length;
  return attempts.some((attempt) => attempt.outcome === 'unknown' && attempt.node === node) ? 1 : 0;
}

async function untilSettled({ cluster }: Upgrade): Promise<void> {
  await until(async () => {
    const { items } = await cluster.resource(pods).list({ namespace });
    const claims = (await cluster.resource(persistentVolumeClaims).list({ namespace })).items;
    const running = items.filter(({ status }) => status?.phase === 'Running').length;
    return running === podCount && claims.every(({ status }) => status?.phase === 'Bound');
  }, 200);
}

async function expectEachPodOnce({ cluster, auditLog }: Upgrade): Promise<void> {
  const bindings = bindingsIn(auditLog);
  const { items } = await cluster.resource(pods).list({ namespace });
  const found = items.map(({ metadata, spec }) => {
    const attempts = bindings.get(metadata?.name ?? '') ?? [];
    return { pod: metadata?.name, node: spec?.nodeName, attempts };
  });
  expect(found.filter(({ attempts, node = '' }) => placements(attempts, node) !== 1)).toEqual([]);
  expect(found).toHaveLength(podCount);
  const volumes = (await cluster.resource(persistentVolumes).list()).items;
  const users = volumes.map(({ spec }) => spec?.claimRef?.name);
  expect(new Set(users).size).toBe(podCount);
}

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kwok'))('an upgrade under load', () => {
  test('and the way back lose no pod and bind none twice, by SIGTERM and by kill', { timeout }, async () => {
    const upgrade = await startUpgrade();
    const old = otherVersion('0.0.1-before');
    const current = packageVersion();
    const creations: Promise<void>[] = [];
    const load = async (stage: number) => {
      creations.push(createStage(upgrade, stage));
      await untilInTheMiddleOf(upgrade, stage);
    };
    const before = [new Replica(upgrade, old.program), new Replica(upgrade, old.program)];
    await untilLeads(upgrade, before, old.version);

    // Rolled forward, as a Deployment does: a new replica is there before an old one is stopped.
    const after = [new Replica(upgrade)];
    await after[0]!.follows();
    await load(0);
    const leader = before.find(({ isLeader }) => isLeader)!;
    expect(await leader.process.stop()).toEqual({ status: 0, signal: null });
    after.push(new Replica(upgrade));
    await after[1]!.follows();
    await load(1);
    for (const replica of before) if (replica !== leader) await replica.process.stop();
    await untilLeads(upgrade, after, current);

    // The new version crashes, and is rolled back.
    const back = [new Replica(upgrade, old.program)];
    await back[0]!.follows();
    await load(2);
    const crashed = after.find(({ isLeader }) => isLeader)!;
    await crashed.process.kill();
    creations.push(createStage(upgrade, 3));
    for (const replica of after) if (replica !== crashed) await replica.process.stop();
    await untilLeads(upgrade, back, old.version);
    await load(4);
    await Promise.all(creations);
    await untilSettled(upgrade);
    // A request is in the audit log only after its answer.
    await untilPasses(() => expectEachPodOnce(upgrade));
  });
});
