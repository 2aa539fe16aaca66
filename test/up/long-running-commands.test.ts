import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EmbeddedServer } from '../../src/apiserver/embedded-server.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded-cluster.ts';
import { node } from '../../src/engine/testing/objects.ts';
import type { Node } from '../../src/kube/api/core.ts';
import { nodes, pods } from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { callInProcess, type ProgramOutput } from './in-process.ts';
import { kubeconfigFor, unavailableServer } from './kubeconfigs.ts';
import { callStowage, delay, StowageProcess, sharedServer, temporaryFolder } from './stowage-process.ts';

/** Commands that run until they are stopped, and what they print when they are ready. */
const staying = [
  { args: ['run', '--leader-elect=false'], works: 'running scheduler on ' },
  { args: ['extender', '--insecure', '--listen', '127.0.0.1:0'], works: 'listening on ' },
] as const;

const server = sharedServer();

const stackTrace = /\n\s+at .+:\d+:\d+/;

function start(...args: readonly string[]): StowageProcess {
  const stowage = new StowageProcess(args);
  onTestFinished(() => stowage.kill());
  return stowage;
}

async function untilPrinted(stowage: StowageProcess, text: string): Promise<void> {
  while (!stowage.stderr.includes(text)) await delay(10);
}

async function complaintOf(...args: readonly string[]): Promise<readonly [number | null, string]> {
  return complaint(await callInProcess(...args));
}

function complaint({ status, stdout, stderr }: ProgramOutput): readonly [number | null, string] {
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(stackTrace);
  return [status, stderr];
}

describe.each(staying)('stowage $args', ({ args, works }) => {
  test('keeps trying to reach an unavailable server, says so, and can be stopped', async () => {
    const stowage = start(...args, '--kubeconfig', kubeconfigFor(unavailableServer, 'x'));
    await untilPrinted(
      stowage,
      `stowage: warn: cannot reach ${unavailableServer}, retrying: GET ${unavailableServer}/api`,
    );
    expect(await stowage.stop()).toEqual({ status: 0, signal: null });
  });

  test('exits if its credentials are rejected, because a retry would not help', async () => {
    const up = server();
    const kubeconfig = kubeconfigFor(up.access.url, 'wrong', up.access.certificateAuthority);
    // Runs in a process, because connections may be open when it ends.
    const [status, text] = complaint(await callStowage(...args, '--kubeconfig', kubeconfig));
    expect(status).toBe(1);
    // Discovery asks for /api and /apis at once, and either answer may arrive first.
    expect(text.replace('/apis: ', '/api: ')).toContain(
      `stowage: ${up.access.url} does not accept the credentials of context "a" of ${kubeconfig}: GET ${up.access.url}/api: Unauthorized; log in again, or choose`,
    );
    expect(text).not.toContain('trying again');
  });

  test('prints a clear error for an invalid kubeconfig and for an unknown context', async () => {
    const file = join(temporaryFolder(), 'config');
    writeFileSync(file, 'kind: Pod\n');
    const [status, text] = await complaintOf(...args, '--kubeconfig', file);
    expect([status, text]).toEqual([
      1,
      expect.stringContaining(`stowage: ${file}: current-context is not set; `),
    ]);
    const known = kubeconfigFor(unavailableServer, 'x');
    const [missing, hint] = await complaintOf(...args, '--kubeconfig', known, '--context', 'none');
    expect([missing, hint]).toEqual([1, expect.stringMatching(/^stowage: .*context.*none.*--kubeconfig\n$/)]);
  });

  test('rejects unknown flags and levels', async () => {
    const [status, text] = await complaintOf(...args, '--nonsense');
    expect([status, text]).toEqual([2, expect.stringContaining("error: unknown option '--nonsense'")]);
    expect(await complaintOf(...args, '--log-level', 'loud')).toEqual([
      2,
      `stowage: --log-level: "loud" must be one of debug, info, warn, error; see stowage ${args[0]} --help\n`,
    ]);
  });

  test('works on an empty cluster, and logs requests or writes JSON on request', async () => {
    const up = server();
    const stowage = start(...args, '--kubeconfig', up.kubeconfig, '--verbose');
    await untilPrinted(stowage, works);
    expect(stowage.stderr).toMatch(/^stowage: debug: GET https:\S+\/api status=200 ms=\d+$/m);
    expect(await stowage.stop()).toEqual({ status: 0, signal: null });
    const programs = start(...args, '--kubeconfig', up.kubeconfig, '--log-format', 'json');
    await untilPrinted(programs, works);
    const [line = ''] = programs.stderr.split('\n');
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: expect.any(String) });
    await programs.stop();
  });
});

test('both commands work with five thousand nodes', async () => {
  const largeServer = await EmbeddedServer.start({
    clock: realClock,
    ids: systemIds,
    random: seededRandom('stay'),
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => largeServer.close());
  const kubeconfig = join(temporaryFolder(), 'kubeconfig');
  await largeServer.writeKubeconfig(kubeconfig);
  const cluster = new EmbeddedCluster({ registry: largeServer.registry, manager: 'test' });
  const names = Array.from({ length: 5_000 }, (_, at) => `n${at}`);
  await Promise.all(names.map((name) => cluster.resource(nodes).create(newNode(name))));
  const run = start('run', '--leader-elect=false', '--kubeconfig', kubeconfig);
  const extender = start('extender', '--insecure', '--listen', '127.0.0.1:0', '--kubeconfig', kubeconfig);
  await extender.answers();
  const [, url = ''] = /=(.+)\n/.exec(extender.stdout) ?? [];
  const question = { Pod: { metadata: { name: 'p', namespace: 'default', uid: '1' } }, NodeNames: names };
  const answer = await fetch(`${url}/filter`, { method: 'POST', body: JSON.stringify(question) });
  const { NodeNames } = (await answer.json()) as { readonly NodeNames: readonly string[] };
  expect(NodeNames).toHaveLength(5_000);
  const spec = { schedulerName: 'stowage', containers: [{ name: 'main', image: 'pause' }] };
  const key = { namespace: 'default', name: 'web' };
  await cluster.resource(pods).create({ metadata: key, spec });
  const placed = async () => (await cluster.resource(pods).get(key)).spec?.nodeName;
  while ((await placed()) === undefined) await delay(20);
  for (const stowage of [run, extender]) expect(await stowage.stop()).toEqual({ status: 0, signal: null });
});

function newNode(name: string): Node {
  const { resourceVersion: _, uid: __, ...metadata } = node(name).metadata ?? {};
  return { ...node(name), metadata };
}
