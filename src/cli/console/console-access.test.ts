import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { consoleAnswers } from '../../console/answers/console-answers.ts';
import { Console } from '../../console/console.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { failure } from '../../kube/api-error.ts';
import { namespaces, nodes, persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { manifestObjects } from '../../state/read-manifests.ts';
import { ask, type ClientCall, consoleToken, textOf } from './testing/console-client.ts';
import { seedPool } from './testing/pool-fixture.ts';

/** The resources that a user may list: `NAMESPACE/PLURAL`, or `any/PLURAL` for all namespaces. */
type Allowed = Set<string>;

const teamToken = 'token-of-the-team';
const gi = 2 ** 30;

describe('what viewers of a console get', () => {
  let fixture: VirtualTimeCluster;
  let console: Console;
  let allowed: Allowed;
  /** Questions about tokens, and how many were open at one time. */
  let questions: string[];
  let openQuestions: number;
  let openQuestionsMax: number;

  /** The cluster as the user of a token sees it, with rights that the test may change. */
  const asViewer = (token: string): Cluster =>
    ({
      resource: ({ kind, plural }: { kind: string; plural: string }) => {
        const refuse = () => Promise.reject(failure(403, 'Forbidden', `you may not list ${plural}`));
        if (kind !== 'SelfSubjectAccessReview') return { list: refuse, get: refuse };
        return {
          create: async ({ spec }: { spec: { resourceAttributes: Record<string, string> } }) => {
            questions.push(token);
            openQuestions += 1;
            openQuestionsMax = Math.max(openQuestionsMax, openQuestions);
            await Promise.resolve();
            openQuestions -= 1;
            if (token !== teamToken) throw failure(401, 'Unauthorized', 'no such user');
            const { namespace, resource } = spec.resourceAttributes;
            return { status: { allowed: allowed.has(`${namespace || 'any'}/${resource}`) } };
          },
        };
      },
    }) as unknown as Cluster;

  beforeEach(async () => {
    fixture = await VirtualTimeCluster.start();
    questions = [];
    openQuestions = 0;
    openQuestionsMax = 0;
    allowed = new Set(['shop/pods', 'shop/persistentvolumeclaims', 'any/nodes', 'any/csistoragecapacities']);
    const { cluster, clock } = fixture;
    await seedPool(cluster, { node: 'node-1', storageClass: 'fast', capacity: '100Gi' });
    for (const name of ['shop', 'secret']) {
      await cluster.resource(namespaces).create({ metadata: { name } });
      await cluster.resource(pods).create({
        metadata: { namespace: name, name: `pod-of-${name}` },
        spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }] },
      });
    }
    // Bytes of the pool are promised to a claim that the team may not list.
    await cluster.resource(persistentVolumeClaims).create({
      metadata: {
        namespace: 'secret',
        name: 'claim-of-secret',
        annotations: { 'volume.kubernetes.io/selected-node': 'node-1' },
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        resources: { requests: { storage: '10Gi' } },
      },
    });
    const random = seededRandom('access');
    const facts = { leases: undefined, isEmbedded: true, isFromFiles: false };
    console = Console.start({
      source: { kind: 'cluster', cluster },
      answers: consoleAnswers({ facts: async () => facts }),
      viewers: { ownToken: consoleToken, asViewer },
      hosts: [],
      server: 'https://cluster',
      version: 'test',
      canWrite: true,
      clock,
      random,
      ids: idsFrom(random),
      onError: (error) => {
        throw error;
      },
    });
    await clock.advance(1_000);
    for (const name of ['shop', 'secret'])
      await cluster.resource(pods).post({ namespace: name, name: `pod-of-${name}` }, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace: name, name: `pod-of-${name}` },
        target: { name: 'node-1' },
      } as KubeObject);
    await clock.advance(20_000);
  });

  afterEach(async () => {
    await console.close();
    await fixture[Symbol.asyncDispose]();
  });

  const asTeam = async (path: string, call: ClientCall = {}) =>
    await ask(console, path, { ...call, headers: { ...call.headers, authorization: `Bearer ${teamToken}` } });
  const rowsOf = async (type: string, path = 'data/state', asked = asTeam) => {
    const lines = (await textOf(await asked(path))).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line)).flatMap((line) => (line.type === type ? line.rows : []));
  };

  test('sums over namespaces that a viewer may not list are not sent: requests on nodes, promises of pools, history', async () => {
    const own = (path: string) => ask(console, path);
    expect(await rowsOf('node')).toEqual([expect.objectContaining({ cpu: [null, 4_000] })]);
    expect(await rowsOf('node', 'data/state', own)).toEqual([
      expect.objectContaining({ cpu: [2_000, 4_000] }),
    ]);
    expect(await rowsOf('pool')).toEqual([
      expect.objectContaining({ promisedBytes: 0, freeBytes: 100 * gi, usedBytes: null }),
    ]);
    expect(await rowsOf('pool', 'data/state', own)).toEqual([
      expect.objectContaining({ promisedBytes: 10 * gi, freeBytes: 90 * gi, usedBytes: 0 }),
    ]);
    const groupsOf = async (asked: typeof own) =>
      JSON.parse(await textOf(await asked('data/history'))).series.map(
        ({ group }: { group: string }) => group,
      );
    expect(new Set(await groupsOf(own))).toEqual(new Set(['pools of class fast', 'pods']));
    expect(await groupsOf(asTeam)).toEqual([]);
  });

  test('a snapshot, and the record in it, have nothing of other namespaces', async () => {
    const uids = new Map<string, string>();
    for (const { metadata } of (await fixture.cluster.resource(pods).list()).items)
      uids.set(metadata!.name!, metadata!.uid!);
    const own = await textOf(await ask(console, 'data/snapshot'));
    expect(own).toContain('pod-of-secret');
    const file = await textOf(await asTeam('data/snapshot'));
    expect(file).not.toMatch(/secret/);
    expect(
      manifestObjects(file, 'file').map(({ kind, metadata }) => `${kind} ${metadata?.name ?? ''}`),
    ).toEqual(['Node node-1', 'CSIStorageCapacity pool', 'Pod pod-of-shop', 'ConsoleRecord ']);
    const { steps } = JSON.parse(await textOf(await asTeam('data/record')));
    expect(Object.keys(steps)).toEqual([uids.get('pod-of-shop')]);
    expect(Object.keys(JSON.parse(await textOf(await ask(console, 'data/record'))).steps)).toHaveLength(2);
  });

  test('a stream that is resumed with other rights starts over', async () => {
    const { clock } = fixture;
    const resumed = async (position: string) => {
      const sent: string[] = [];
      const response = await asTeam('data/events', { headers: { 'last-event-id': position } });
      if (!('stream' in response)) throw new Error('no stream');
      const stream = response.stream({
        unsentBytes: 0,
        write: (bytes) => sent.push(Buffer.from(bytes).toString('utf8')),
        end: () => {},
        cut: () => {},
      });
      stream.closed();
      return sent.join('');
    };
    const positionNow = async () =>
      JSON.parse((await textOf(await asTeam('data/state'))).split('\n')[0]!).position as string;
    const position = await positionNow();
    expect(await resumed(position)).not.toContain('event: reset');
    allowed.delete('shop/pods');
    await clock.advance(31_000);
    expect(await rowsOf('pod')).toEqual([]);
    expect(await resumed(position)).toContain('event: reset');
    expect(await resumed(await positionNow())).not.toContain('event: reset');
    // Nor does the position of another viewer fit.
    const head = (await textOf(await ask(console, 'data/state'))).split('\n')[0]!;
    expect(await resumed(JSON.parse(head).position)).toContain('event: reset');
  });

  test('a token that is none costs the cluster one question, and few are asked at one time', async () => {
    const tokens = Array.from({ length: 30 }, (_, at) => `guess-${at}`);
    const answers = await Promise.all(
      tokens.map((token) =>
        ask(console, 'data/state', { headers: { cookie: '', authorization: `Bearer ${token}` } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(questions.toSorted()).toEqual(tokens.toSorted());
    expect(openQuestionsMax).toBeLessThanOrEqual(8);
  });

  test('one viewer cannot open all streams', async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 31; at += 1) {
      const response = await asTeam('data/events');
      statuses.push(response.status);
      if ('stream' in response)
        response.stream({ unsentBytes: 0, write: () => {}, end: () => {}, cut: () => {} });
    }
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect((await ask(console, 'data/events')).status).toBe(200);
  });

  test('only the token of the process signs in by an address; a form takes tokens of the cluster', async () => {
    const signedIn = async (path: string, call: ClientCall = {}) => {
      const { status, headers } = await ask(console, path, {
        ...call,
        headers: { cookie: '', ...call.headers },
      });
      return [status, 'Set-Cookie' in headers];
    };
    expect(await signedIn(`?token=${consoleToken}`)).toEqual([303, true]);
    expect(await signedIn(`?token=${teamToken}`)).toEqual([401, false]);
    const form = { method: 'POST', body: `token=${teamToken}`, headers: { origin: 'https://127.0.0.1' } };
    expect(await signedIn('login', form)).toEqual([303, true]);
    const fromElsewhere = { ...form, headers: { origin: 'https://evil.example' } };
    expect(await signedIn('login', fromElsewhere)).toEqual([403, false]);
  });

  test('bodies are limited before they are received, and there are no other paths', async () => {
    const headers = { origin: 'https://127.0.0.1' };
    const post = async (path: string, more: Record<string, string>) =>
      (await ask(console, path, { method: 'POST', headers: { ...headers, ...more }, body: '{}' })).status;
    expect(await post('data/act', { 'content-length': '16385' })).toBe(413);
    expect(await post('login', { 'content-length': '' })).toBe(401);
    expect(await post('login', { 'content-length': 'many' })).toBe(413);
    for (const path of [
      'xxxxxqueue',
      'data/../data/state',
      'assets/../index.html',
      'data/queue/',
      '../etc/passwd',
    ])
      expect((await ask(console, path)).status, path).toBe(path === 'data/../data/state' ? 200 : 404);
  });

  test('an action needs all of its fields, of the right kind', async () => {
    const { cluster } = fixture;
    const act = async (body: unknown) =>
      (
        await ask(console, 'data/act', {
          method: 'POST',
          headers: { origin: 'https://127.0.0.1' },
          body: JSON.stringify(body),
        })
      ).status;
    expect(await act({ kind: 'delete', what: 'node', name: 'node-1' })).toBe(400);
    expect(await act({ kind: 'cordon', what: 'node', name: '../pods/x', isOn: true })).toBe(404);
    expect(await act({ kind: 'scale', what: 'Secret', namespace: 'shop', name: 'x', replicas: 1 })).toBe(400);
    expect(
      await act({ kind: 'scale', what: 'Deployment', namespace: 'shop', name: 'x', replicas: 1e9 }),
    ).toBe(400);
    expect(await act({ kind: 'cordon', what: 'node', name: 'node-1', isOn: true })).toBe(200);
    expect((await cluster.resource(nodes).get({ name: 'node-1' })).spec?.unschedulable).toBe(true);
    // A viewer acts with their own rights, which are none here.
    const asViewerToo = await asTeam('data/act', {
      method: 'POST',
      headers: { origin: 'https://127.0.0.1' },
      body: JSON.stringify({ kind: 'evict', namespace: 'secret', name: 'pod-of-secret', node: 'node-1' }),
    });
    expect(asViewerToo.status).toBe(403);
  });
});
