import { expect, test } from 'vitest';
import {
  type ControllerUnderTest,
  callOptions,
  DrivesFixture,
  onNode,
  volumeOf,
} from '../testing/drives-fixture.ts';

const create = ({ driver }: ControllerUnderTest, ...args: Parameters<typeof volumeOf>) =>
  driver.call('CreateVolume', volumeOf(...args), callOptions);

test('a claim gets the drive with the most free bytes, by one write', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('small', 5);
  await fixture.drive('large', 9);
  const controller = await fixture.controller();
  const before = fixture.versions.length;
  const claim = {
    'csi.storage.k8s.io/pvc/namespace': 'default',
    'csi.storage.k8s.io/pvc/name': 'data',
    'csi.storage.k8s.io/pvc/uid': 'u1',
    'csi.storage.k8s.io/pv/name': 'pvc-1',
  };
  const { volume } = await create(controller, 'pvc-1', 4, { parameters: claim });
  expect(volume).toMatchObject({
    volumeId: 'pvc-1',
    capacityBytes: 4n,
    volumeContext: { 'stowage.dev/drive': 'large' },
    accessibleTopology: [{ segments: { 'stowage.dev/node': 'n1' } }],
  });
  const { metadata, spec } = await fixture.get('large');
  expect(spec?.volumes).toEqual([
    {
      name: 'pvc-1',
      sizeBytes: 4,
      state: 'Active',
      claimRef: { namespace: 'default', name: 'data', uid: 'u1' },
    },
  ]);
  expect(metadata?.finalizers).toEqual(['stowage.dev/drive-protection']);
  expect(fixture.versions.length - before).toBe(1);
});

test('a filesystem takes volumes once, however many Drives name it', async () => {
  const fixture = await DrivesFixture.start();
  const { spec } = await fixture.drive('a', 10);
  const filesystemUUID = spec?.filesystemUUID?.toUpperCase() ?? '';
  await fixture.clock.advance(2_000);
  await fixture.drive('second', 20, { spec: { filesystemUUID } });
  const controller = await fixture.controller();
  const { volume } = await create(controller, 'v', 6);
  expect(volume?.volumeContext['stowage.dev/drive']).toBe('a');
  await expect(create(controller, 'w', 6)).rejects.toMatchObject({ code: 'ResourceExhausted' });
  const { availableCapacity } = await controller.driver.call('GetCapacity', {}, callOptions);
  expect(availableCapacity).toBe(4n);
});

test('the same name gets the same drive again; another size is AlreadyExists', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10);
  await fixture.drive('b', 10);
  const controller = await fixture.controller();
  const first = await create(controller, 'v', 6);
  for (let repeat = 0; repeat < 10; repeat += 1) expect(await create(controller, 'v', 6)).toEqual(first);
  await expect(create(controller, 'v', 7)).rejects.toMatchObject({ code: 'AlreadyExists' });
  await expect(create(controller, 'v', 5)).rejects.toMatchObject({ code: 'AlreadyExists' });
  const range = { requiredBytes: 5n, limitBytes: 8n };
  expect(await create(controller, 'v', 0, { capacityRange: range })).toEqual(first);
});

test('without a size a volume takes all that is free on the drive; with a limit alone, no more than that', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10);
  const controller = await fixture.controller();
  const limited = await create(controller, 'v', 0, { capacityRange: { limitBytes: 4n } });
  expect(limited.volume?.capacityBytes).toBe(4n);
  const { capacityRange: _, ...request } = volumeOf('w', 0);
  const whole = await controller.driver.call('CreateVolume', request, callOptions);
  expect(whole.volume?.capacityBytes).toBe(6n);
});

test('20 parallel claims on 4 drives: as many as fit, none on two drives, and the others are refused with the numbers', async () => {
  const fixture = await DrivesFixture.start();
  for (const name of ['a', 'b', 'c', 'd']) await fixture.drive(name, 4);
  const controller = await fixture.controller();
  const calls = Array.from({ length: 20 }, (_, at) => create(controller, `v${at}`, 1));
  const results = await Promise.allSettled(calls);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
  for (const result of results)
    if (result.status === 'rejected')
      expect(result.reason).toMatchObject({
        code: 'ResourceExhausted',
        message: expect.stringContaining('0 free, 1 asked, 1 missing'),
      });
  expect((await fixture.placements()).size).toBe(16);
  fixture.expectNoOverdraft();
});

test('the same name twice at once is one volume', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10);
  await fixture.drive('b', 10);
  const controller = await fixture.controller();
  const [first, second] = await Promise.all([create(controller, 'v', 6), create(controller, 'v', 6)]);
  expect(first).toEqual(second);
  expect((await fixture.placements()).get('v')).toHaveLength(1);
});

test('the drive that was chosen before takes precedence while the volume fits', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('chosen', 5);
  await fixture.drive('free', 9);
  const controller = await fixture.controller();
  const parameters = { 'stowage.dev/drive': 'chosen' };
  const on = async (name: string, bytes: number) =>
    (await create(controller, name, bytes, { parameters })).volume?.volumeContext['stowage.dev/drive'];
  expect(await on('v', 4)).toBe('chosen');
  expect(await on('w', 4)).toBe('free');
});

test.each([
  ['cordoned', { spec: { unschedulable: true } }, undefined],
  ['lost', { status: { state: 'Lost' } }, 'status'],
] as const)('a drive that is %s between choice and write gets no volume', async (_, change, subresource) => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('large', 9);
  await fixture.drive('small', 5);
  const controller = await fixture.controller();
  let isChanged = false;
  controller.cluster.addHooks({
    before: async ({ verb, name }) => {
      if (verb !== 'patch' || name !== 'large' || isChanged) return;
      isChanged = true;
      await fixture.merge('large', change, subresource);
    },
  });
  const { volume } = await create(controller, 'v', 4);
  expect(isChanged).toBe(true);
  expect(volume?.volumeContext['stowage.dev/drive']).toBe('small');
  expect((await fixture.placements()).get('v')).toEqual(['small']);
});

test('a drive that another client fills or deletes meanwhile is not chosen again; after too many changes the answer is Aborted', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 9);
  await fixture.drive('b', 8);
  const controller = await fixture.controller();
  let writes = 0;
  const stop = controller.cluster.addHooks({
    before: async ({ verb, name }) => {
      if (verb !== 'patch') return;
      writes += 1;
      await fixture.merge(name, { metadata: { labels: { changed: String(writes) } } });
    },
  });
  await expect(create(controller, 'v', 4)).rejects.toMatchObject({ code: 'Aborted' });
  expect(writes).toBe(8);
  stop();
  await fixture.merge('a', { spec: { volumes: [{ name: 'other', sizeBytes: 9 }] } });
  const { volume } = await create(controller, 'v', 4);
  expect(volume?.volumeContext['stowage.dev/drive']).toBe('b');
});

test('a lost reply leaves one entry, which the repeated call finds', async () => {
  const fixture = await DrivesFixture.start();
  for (const name of ['a', 'b', 'c', 'd']) await fixture.drive(name, 10);
  const controller = await fixture.controller();
  let lost = 0;
  controller.cluster.addHooks({
    after: ({ verb }) => {
      if (verb === 'patch' && lost++ < 1) throw new Error('the connection broke');
    },
  });
  await expect(create(controller, 'v', 6)).rejects.toMatchObject({
    code: 'Unavailable',
    outcome: { effect: 'unknown' },
  });
  const { volume } = await create(controller, 'v', 6);
  expect((await fixture.placements()).get('v')).toEqual([volume?.volumeContext['stowage.dev/drive']]);
});

test('volumes of one StatefulSet go on different drives with spreadBy, and the fifth of four drives is refused', async () => {
  const fixture = await DrivesFixture.start();
  for (const name of ['a', 'b', 'c', 'd']) await fixture.drive(name, 100);
  const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await fixture.cluster
    .resource({ group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true })
    .create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'default' },
      spec: {
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template,
        volumeClaimTemplates: ['data', 'log'].map((name) => ({
          metadata: { name },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
        })),
      },
    } as never);
  const controller = await fixture.controller();
  const claim = (name: string) => ({
    parameters: {
      spreadBy: 'claim-owner',
      'csi.storage.k8s.io/pvc/namespace': 'default',
      'csi.storage.k8s.io/pvc/name': name,
    },
  });
  const names = ['data-db-0', 'log-db-0', 'data-db-1', 'log-db-1'];
  await Promise.all(names.map((name) => create(controller, name, 1, claim(name))));
  expect(new Set([...(await fixture.placements()).values()].flat()).size).toBe(4);
  expect((await fixture.get('a')).spec?.volumes?.[0]?.spreadGroup).toBe('default/db');
  await expect(create(controller, 'x', 1, claim('data-db-2'))).rejects.toThrow(
    /ResourceExhausted: .* has a volume of default\/db already/,
  );
  await create(controller, 'y', 1, claim('alone'));
});

test('strict topology keeps a volume on its node, and the refusal names the closest drive', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('n1-a', 5, { node: 'n1' });
  await fixture.drive('n2-a', 9, { node: 'n2' });
  const controller = await fixture.controller();
  const { volume } = await create(controller, 'v', 3, onNode('n1'));
  expect(volume?.accessibleTopology[0]?.segments).toEqual({ 'stowage.dev/node': 'n1' });
  await expect(create(controller, 'w', 3, onNode('n1'))).rejects.toThrow(
    'ResourceExhausted: no drive in stowage.dev/node=n1 takes a volume of 3: drive n1-a: 2 free, 3 asked, 1 missing',
  );
});

test('a growth reserve keeps a part of the drive from new volumes, also from a volume without a size', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10);
  const controller = await fixture.controller();
  const reserve = (percent: string) => ({ parameters: { 'stowage.dev/growth-reserve': percent } });
  await expect(create(controller, 'v', 9, reserve('20%'))).rejects.toThrow(
    'ResourceExhausted: no drive takes a volume of 9: drive a: 10 free, of which 2 are kept for growth, 9 asked, 1 missing',
  );
  await expect(create(controller, 'v', 9, reserve('all'))).rejects.toThrow(
    'InvalidArgument: parameters[stowage.dev/growth-reserve]: "all" must be a whole percentage',
  );
  const limited = await create(controller, 'v', 0, {
    ...reserve('20%'),
    capacityRange: { limitBytes: 100n },
  });
  expect(limited.volume?.capacityBytes).toBe(8n);
  await expect(create(controller, 'w', 1, reserve('20%'))).rejects.toThrow('ResourceExhausted');
  expect((await create(controller, 'w', 2)).volume?.capacityBytes).toBe(2n);
});
