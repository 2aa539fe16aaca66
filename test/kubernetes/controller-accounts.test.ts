import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { deployments, replicaSets, serviceAccounts } from '../../src/kube/resources.ts';
import type { TestBed } from './test-bed.ts';
import { servedControllers } from './testing/unserved-controllers.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

/** Each controller of kube-controller-manager runs under its own service account, with a token that it requests and the default roles. */
describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('kube-controller-manager', () => {
  test('works on our server with one account per controller', async () => {
    const bed = await startTestBed({
      server: 'stowage',
      controllerManager: {
        controllers: servedControllers,
        extraFlags: { 'use-service-account-credentials': true },
      },
    });
    const cluster = await bed.connect();
    const labels = { app: 'web' };
    await cluster.resource(deployments).create({
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const sets = () => cluster.resource(replicaSets).list({ namespace: 'default' });
    await until(async () => (await sets()).items.some(({ status }) => status?.replicas === 1));
    const accounts = await cluster.resource(serviceAccounts).list({ namespace: 'kube-system' });
    const names = accounts.items.map(({ metadata }) => metadata?.name);
    expect(names).toEqual(expect.arrayContaining(['deployment-controller', 'replicaset-controller']));
    expect(refusalsIn(bed)).toEqual([]);
  });
});

function refusalsIn(bed: TestBed): readonly string[] {
  const lines = bed.logs('kube-controller-manager').split('\n');
  return lines.filter((line) => /forbidden|unauthorized/i.test(line));
}

async function until(isOver: () => Promise<boolean>): Promise<void> {
  while (!(await isOver())) await sleep(100);
}
