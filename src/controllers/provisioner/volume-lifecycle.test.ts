import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { protectionController } from '../volumes/protection.ts';
import { pvBinderController } from '../volumes/pv-binder/pv-binder.ts';
import { provisionerController } from './provisioner-controller.ts';
import { claimOf, classOf, local } from './testing/objects.ts';
import { ProvisionerFixture } from './testing/provisioner-fixture.ts';
import { temporaryDirectory } from './testing/temporary-directory.ts';

/** As a user creates it, without any annotation. */
const { spec } = claimOf();
const bare = { metadata: { namespace: 'default', name: 'data' }, ...(spec === undefined ? {} : { spec }) };

test('requested, bound and deleted, with the PV binder and protection', async () => {
  await using here = await temporaryDirectory();
  const controllers = [
    provisionerController({ localRoot: here.path }),
    pvBinderController(),
    protectionController,
  ];
  await using fixture = await ProvisionerFixture.start(controllers, classOf({ provisioner: local }));
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  const { metadata } = await claims.create(bare);
  await fixture.virtualTime.settle();
  expect(await fixture.volumes()).toEqual([]);
  // Acts as the scheduler.
  await fixture.annotate({ [annotations.selectedNode]: 'b1' });
  await fixture.until(async () => (await fixture.claim())?.status?.phase === 'Bound');
  const path = join(here.path, `pvc-${metadata?.uid}`);
  expect(existsSync(path)).toBe(true);
  expect((await fixture.volumes()).map(({ status }) => status?.phase)).toEqual(['Bound']);
  await claims.delete({ namespace: 'default', name: 'data' });
  await fixture.until(async () => (await fixture.volumes()).length === 0);
  expect(await fixture.claim()).toBeUndefined();
  expect(existsSync(path)).toBe(false);
});

test('immediately, if the class says so', async () => {
  const controllers = [provisionerController(), pvBinderController(), protectionController];
  await using fixture = await ProvisionerFixture.start(
    controllers,
    classOf({ volumeBindingMode: 'Immediate' }),
  );
  await fixture.cluster.resource(persistentVolumeClaims).create(bare);
  await fixture.until(async () => (await fixture.claim())?.status?.phase === 'Bound');
});
