import { expect, test } from 'vitest';
import { VirtualTimeCluster } from '../controllers/testing/virtual-time-cluster.ts';
import { storageClasses } from '../kube/resources.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { Informer } from './informer/informer.ts';
import { ObjectChanges } from './object-changes.ts';

async function start() {
  const environment = await VirtualTimeCluster.start();
  const { cluster, clock } = environment;
  const random = seededRandom('changes');
  const supervisor = new Supervisor({ clock, random, onCrash: () => {} });
  const informer = new Informer({ cluster, resource: storageClasses, clock, random });
  informer.start(supervisor);
  await environment.settle();
  const changes = new ObjectChanges(informer, clock);
  const create = (name: string) =>
    cluster.resource(storageClasses).create({ metadata: { name }, provisioner: 'csi.example.com' });
  const stop = new AbortController();
  const ended: string[] = [];
  const wait = (name: string, maxMs: number) =>
    void changes
      .next(name)
      .within(maxMs, stop.signal)
      .then(() => ended.push(name));
  const close = async () => {
    changes.close();
    await supervisor.close();
    await environment[Symbol.asyncDispose]();
  };
  return { environment, changes, create, wait, ended, stop, close };
}

test('a wait ends with a change of its object, and not of another', async () => {
  const { environment, create, wait, ended, close } = await start();
  wait('a', 60_000);
  await create('b');
  await environment.settle();
  expect(ended).toEqual([]);
  await create('a');
  await environment.settle();
  expect(ended).toEqual(['a']);
  await close();
});

test('a change between the subscription and the wait is not missed', async () => {
  const { environment, changes, create, stop, close } = await start();
  const next = changes.next('a');
  await create('a');
  await environment.settle();
  let hasEnded = false;
  void next.within(60_000, stop.signal).then(() => {
    hasEnded = true;
  });
  await environment.settle(1);
  expect(hasEnded).toBe(true);
  await close();
});

test('a wait ends after its time, and when it is aborted', async () => {
  const { environment, wait, ended, stop, close } = await start();
  wait('a', 1_000);
  wait('b', 60_000);
  await environment.settle(999);
  expect(ended).toEqual([]);
  await environment.settle(1);
  expect(ended).toEqual(['a']);
  stop.abort();
  await environment.settle(1);
  expect(ended).toEqual(['a', 'b']);
  await close();
});
