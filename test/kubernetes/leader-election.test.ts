import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EventReader } from '../../src/cluster/testing/contract-fixture.ts';
import type { ConfigMap } from '../../src/kube/api/core.ts';
import { configMaps, leases } from '../../src/kube/resources.ts';
import { builtProgram } from '../built-program.ts';
import type { TestBed } from './test-bed.ts';
import { PausableProxy } from './testing/pausable-proxy.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const script = fileURLToPath(new URL('testing/leader-candidate.mjs', import.meta.url));

/** A candidate in a process of its own. */
class Candidate {
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];

  constructor(identity: string, kubeconfig: string) {
    const compiled = dirname(builtProgram(new URL('../../src/index.ts', import.meta.url)));
    const args = ['--compiled', compiled, '--kubeconfig', kubeconfig, '--identity', identity];
    this.#process = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.exited = new Promise((resolve) => this.#process.once('close', resolve));
    createInterface({ input: this.#process.stdout! }).on('line', (line) => this.#lines.push(line));
    onTestFinished(() => {
      this.#process.kill('SIGKILL');
    });
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  get writesStarted(): number {
    return this.#lines.filter((line) => line.startsWith('writes')).length;
  }

  async says(line: string): Promise<void> {
    while (!this.#lines.includes(line)) await sleep(10);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}

describe.skipIf(lacks(...serverPrograms))('two candidates in separate processes', () => {
  test('one leads; when it is killed, the other takes over', async () => {
    const bed = await startTestBed();
    const cluster = await openShared(bed);
    const a = new Candidate('a', bed.kubeconfig);
    await a.says('leads');
    const b = new Candidate('b', bed.kubeconfig);
    await b.says('waits');
    await a.says('writes 50');
    expect(b.lines).toEqual(['waits']);

    a.signal('SIGKILL');
    await b.says('leads');
    await b.says('writes 5');
    const lease = await cluster.resource(leases).get({ namespace: 'default', name: 'election' });
    expect(lease.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('a leader that is stopped past its lease starts no write when it continues, and a write in flight does no harm', async () => {
    const bed = await startTestBed();
    const cluster = await openShared(bed);
    const proxy = await PausableProxy.open(portOf(bed.kubeconfig));
    onTestFinished(() => proxy.close());
    const a = new Candidate('a', throughProxy(bed, proxy));
    await a.says('writes 10');
    const b = new Candidate('b', bed.kubeconfig);
    await b.says('waits');

    await holdDuringWrite(a, proxy);
    a.signal('SIGSTOP');
    const startedByA = a.writesStarted;
    await b.says('writes 5');
    const { metadata } = await cluster.resource(configMaps).get(shared);
    await using events = new EventReader(cluster.resource(configMaps), {
      namespace: 'default',
      resourceVersion: metadata?.resourceVersion ?? '',
    });

    proxy.release();
    await proxy.answered(); // The late write has arrived; if it had been accepted, it would be among the events.
    a.signal('SIGCONT');
    expect(await a.exited).toBe(0);
    expect(a.lines.at(-1)).toBe('ends lost');
    expect(a.writesStarted).toBe(startedByA);
    expect(await writersOf(events, 30)).toEqual(new Set(['b']));
  });
});

const shared = { namespace: 'default', name: 'shared' };

async function openShared(bed: TestBed) {
  const cluster = await bed.connect();
  await cluster.resource(configMaps).create({ metadata: shared });
  return cluster;
}

function portOf(kubeconfig: string): number {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8'));
  return Number(new URL(clusters[0].cluster.server).port);
}

function throughProxy(bed: TestBed, proxy: PausableProxy): string {
  const text = readFileSync(bed.kubeconfig, 'utf8');
  const path = join(bed.folder, 'data/kubeconfig-proxy');
  writeFileSync(path, text.replace(`127.0.0.1:${portOf(bed.kubeconfig)}`, `127.0.0.1:${proxy.port}`));
  return path;
}

/** Waits until the proxy holds a write of the candidate: if the write had passed, the candidate would report its result. */
async function holdDuringWrite(candidate: Candidate, proxy: PausableProxy): Promise<void> {
  proxy.hold();
  while (proxy.heldBytes === 0) await sleep(5);
  await sleep(100);
  if (candidate.lines.at(-1)?.startsWith('writes')) return;
  proxy.release();
  await sleep(20);
  await holdDuringWrite(candidate, proxy);
}

async function writersOf(events: EventReader<ConfigMap>, count: number): Promise<ReadonlySet<string>> {
  const writers = new Set<string>();
  for (let seen = 0; seen < count; seen += 1) {
    const event = await events.next();
    if (event.type !== 'BOOKMARK') writers.add(event.object.data?.writer ?? '');
  }
  return writers;
}
