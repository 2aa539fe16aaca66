import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import type { ConfigMap } from '../../src/kube/api/core.ts';
import type { Selection } from '../../src/kube/api-requests.ts';
import { configMaps } from '../../src/kube/resources.ts';
import { Informer } from '../../src/reconcile/informer/informer.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { CuttingProxy } from './testing/cutting-proxy.ts';
import { waitUntil } from './testing/storm-checks.ts';
import { acceleratedClock, stormServer } from './testing/storm-server.ts';
import { inProcess } from './testing/storm-transports.ts';
import { StormWriter } from './testing/storm-writer.ts';

/** Short pauses after failures: the test is not about back-off. */
const clock = acceleratedClock(20);
const random = seededRandom('informers');
const namespaces = ['default', 'kube-system'];

const wanted: readonly Selection[] = [
  {},
  { namespace: 'default' },
  { labelSelector: 'tier=a' },
  { labelSelector: 'tier!=a', namespace: 'kube-system' },
  { fieldSelector: 'metadata.name=w0-1' },
];

/** Combines the calls of the handlers. The result must equal the informer's cache and the server's state. */
class HandlerRecord {
  readonly known = new Map<string, string>();
  readonly problems: string[] = [];

  added(object: ConfigMap): void {
    if (this.known.has(keyOf(object))) this.problems.push(`${keyOf(object)} was added twice`);
    this.known.set(keyOf(object), versionOf(object));
  }

  updated(object: ConfigMap, old: ConfigMap): void {
    if (this.known.get(keyOf(object)) !== versionOf(old))
      this.problems.push(`${keyOf(object)} had another version`);
    this.known.set(keyOf(object), versionOf(object));
  }

  deleted(object: ConfigMap): void {
    if (!this.known.delete(keyOf(object))) this.problems.push(`${keyOf(object)} was deleted but is unknown`);
  }
}

function keyOf({ metadata }: ConfigMap): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

function versionOf({ metadata }: ConfigMap): string {
  return metadata?.resourceVersion ?? '';
}

test('informers behind breaking connections end up with the state of the server', async () => {
  const server = await stormServer({ history: { changesMax: 300 } });
  const proxy = await CuttingProxy.start(server.access, random.fork('proxy'));
  const folder = await mkdtemp(join(tmpdir(), 'cuts-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.api.kubeconfig.replace(`:${server.access.port}`, `:${proxy.port}`));
  const cluster = await KubernetesCluster.connect({ clock, random, env: {}, kubeconfig, rateLimit: false });
  const supervisor = new Supervisor({ clock, random, onCrash: () => {} });
  const followers = wanted.flatMap((selection) =>
    [true, false].map((streamInitial) => {
      const record = new HandlerRecord();
      const purpose = String(streamInitial);
      const options = {
        cluster,
        resource: configMaps,
        selection,
        clock,
        random,
        purpose,
        streamInitial,
        pageSize: 7,
      };
      const informer = new Informer<ConfigMap>(options);
      informer.addHandler(record);
      informer.start(supervisor);
      return { selection, record, informer };
    }),
  );
  const agent = new Agent({ keepAlive: true, secureContext: server.access.secureContext });
  onTestFinished(async () => {
    await supervisor.close();
    await cluster.close();
    await proxy.close();
    agent.destroy();
    await server.close();
    await rm(folder, { recursive: true });
  });
  const writer = new StormWriter({
    name: 'w0',
    access: server.access,
    agent,
    namespaces,
    random: random.fork('w0'),
  });
  while (proxy.cuts < 150) await writer.write(20);
  proxy.stopFaults();
  const state = async (selection: Selection) => {
    const { items } = await inProcess(server.registry).list({
      plural: 'configmaps',
      matches: () => true,
      ...filled(selection),
    });
    return items.map(([key, version]) => `${key} ${version}`).sort();
  };
  const expected = await Promise.all(followers.map(({ selection }) => state(selection)));
  await waitUntil(() =>
    followers.every(({ record }, index) => String(linesOf(record)) === String(expected[index])),
  );
  expect(followers.map(({ record }) => linesOf(record))).toEqual(expected);
  expect(
    followers.map(({ informer }) => [...informer.values()].map((o) => `${keyOf(o)} ${versionOf(o)}`).sort()),
  ).toEqual(expected);
  expect(followers.flatMap(({ record }) => record.problems)).toEqual([]);
  expect(server.bugs).toEqual([]);
});

function linesOf({ known }: HandlerRecord): readonly string[] {
  return [...known].map(([key, version]) => `${key} ${version}`).sort();
}

function filled({ namespace, labelSelector, fieldSelector }: Selection) {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
