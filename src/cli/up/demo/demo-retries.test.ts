import { afterEach, beforeEach, expect, test } from 'vitest';
import { allControllers } from '../../../controllers/all-controllers.ts';
import { VirtualTimeCluster } from '../../../controllers/testing/virtual-time-cluster.ts';
import { apiVersionOf, type Resource } from '../../../kube/resource.ts';
import * as builtIn from '../../../kube/resources.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { drives } from '../../../kube/stowage/drive.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { labels } from '../../../kube/well-known.ts';
import { silentLog } from '../../../runtime/log.ts';
import { loadDemo } from './load-demo.ts';
import { PoolDriver } from './pool-driver.ts';

const minuteMs = 60_000;
/** The pods of `examples/demo` that fit nowhere. The last one needs the disk agent, which does not run here. */
const waiting = ['pool-too-small', 'store-0', 'too-big', 'too-hungry', 'torn-apart'];
const ownKinds = [drives, storageNodes, diskSchedules, diskVolumes, replicas, backingImages];
const resources = [...Object.values(builtIn), ...ownKinds] as readonly Resource[];

let demo: VirtualTimeCluster;
/** Decisions about pods that were refused before, as `CAUSE POD`. */
let retries: string[];

beforeEach(async () => {
  retries = [];
  demo = await VirtualTimeCluster.start();
  await demo.installOwnKinds();
  demo.log = {
    ...silentLog,
    writes: () => true,
    debug: (message, fields) => {
      if (message === 'decided' && fields?.cause !== 'new') retries.push(`${fields?.cause} ${fields?.pod}`);
    },
  };
  const driver = new PoolDriver();
  const settings = { schedulerNames: ['stowage', 'default-scheduler'], provisioners: [driver.provisioner] };
  demo.run([...allControllers(settings), driver.controller]);
  await demo.settle();
  const resourceOf = (apiVersion: string, kind: string) =>
    resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  await Promise.all([loadDemo({ cluster: demo.cluster, resourceOf }), demo.settle(10_000)]);
});

afterEach(async () => {
  await demo[Symbol.asyncDispose]();
});

test('the pods of the demo that fit nowhere are not retried while nothing happens that could help them', async () => {
  await demo.settle(40 * minuteMs);
  expect(retries.filter((retry) => !retry.startsWith('sweep'))).toEqual([]);
  // Every pod is still checked for a change that was missed: once in five minutes, and not more often.
  expect(retries.length).toBe(7 * waiting.length);
});

test('they are not retried when the capacity of other classes changes, or when pods come and go that use nothing of theirs', async () => {
  const client = demo.cluster.resource(builtIn.csiStorageCapacities);
  const key = { namespace: 'kube-system', name: 'other' };
  await client.create({
    metadata: { ...key, labels: { [labels.backingPool]: 'disks-of-another-class' } },
    storageClassName: 'other',
    nodeTopology: {},
    capacity: '2Ti',
  });
  for (const capacity of ['1999Gi', '1Ti', '3Ti', '500Gi']) {
    await client.patch(key, { type: 'merge', body: { capacity } });
    await demo.settle(10_000);
  }
  await client.delete(key);
  await demo.cluster.resource(builtIn.pods).delete({ namespace: 'demo', name: 'queue-0' });
  await demo.settle(60_000);
  expect(retries).toEqual([]);
});

test('one is retried once, and runs, when a change helps it', async () => {
  const body = { metadata: { annotations: { 'demo.stowage.dev/pool': '300Gi' } } };
  await demo.cluster.resource(builtIn.nodes).patch({ name: 'node-a2' }, { type: 'merge', body });
  await demo.settle(10_000);
  expect(retries).toEqual(['event demo/pool-too-small']);
  const pod = await demo.cluster.resource(builtIn.pods).get({ namespace: 'demo', name: 'pool-too-small' });
  expect(pod.spec?.nodeName).toBe('node-a2');
});
