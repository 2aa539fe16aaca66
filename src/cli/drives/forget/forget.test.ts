import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { DrivesFixture } from '../../../drives/testing/drives-fixture.ts';
import { boundClaim, pod, volume } from '../../../engine/testing/objects.ts';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { failure } from '../../../kube/api-error.ts';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { DriveObjects } from '../../../queries/drives/drive-objects.ts';
import { readDriveObjects } from '../../../queries/drives/drive-objects.ts';
import { forgetDrives } from './forget-drives.ts';
import { forgetFile, parseForgetFile } from './forget-file.ts';
import { type ForgetList, forgetListOf } from './forget-list.ts';
import { lostTarget } from './forget-target.ts';

const gib = 2 ** 30;

function onDrive(name: string): PersistentVolume {
  const made = volume(name, '1Gi');
  return { ...made, spec: { ...made.spec, csi: { driver: drivesDriver, volumeHandle: name } } };
}

/** Without what an API server sets. */
function fresh<T extends KubeObject>(object: T): T {
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

/** Two drives of a node that no longer exists, one of another node, and who used them. */
async function lostNode() {
  const fixture = await DrivesFixture.start();
  const entry = (name: string, claim: string) => ({
    name,
    sizeBytes: gib,
    claimRef: { namespace: 'default', name: claim },
  });
  await fixture.drive('n1-a', 10 * gib, {
    spec: { volumes: [entry('pv-db', 'data-db-0'), entry('pv-leak', 'gone')] },
  });
  await fixture.drive('n1-b', 10 * gib, { spec: { volumes: [entry('pv-web', 'web')] } });
  await fixture.drive('n2-c', 10 * gib, { node: 'n2', spec: { volumes: [entry('pv-other', 'other')] } });
  const { cluster } = fixture;
  for (const name of ['data-db-0', 'web'])
    await cluster.resource(persistentVolumeClaims).create(fresh(boundClaim(name, '1Gi', `pv-${name}`)));
  for (const name of ['pv-db', 'pv-web'])
    await cluster.resource(persistentVolumes).create(fresh(onDrive(name)));
  const set: StatefulSet = {
    metadata: { namespace: 'default', name: 'db' },
    spec: {
      selector: {},
      serviceName: '',
      template: {},
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    },
  };
  const list = async () => {
    const objects = await readDriveObjects(cluster, { withUsers: true });
    return forgetListOf({ node: 'n1' }, { ...objects, pods: [pod('db-0', ['data-db-0'])] } as DriveObjects, [
      set,
    ]);
  };
  const names = async () => (await fixture.all()).map(({ metadata }) => metadata?.name);
  return { fixture, list, names };
}

test('the list names drives, volumes, claims and what their owners can do', async () => {
  const { list } = await lostNode();
  const { drives } = await list();
  expect(drives.map(({ name }) => name)).toEqual(['n1-a', 'n1-b']);
  const [db, leak, web] = drives.flatMap(({ volumes }) => volumes);
  expect(db).toMatchObject({
    name: 'pv-db',
    owner: 'StatefulSet default/db',
    advice: expect.stringMatching(/^delete claim default\/data-db-0 and pod default\/db-0: the StatefulSet/),
    claim: { name: 'default/data-db-0', isDeleted: false },
    persistentVolume: { name: 'pv-db', isDeleted: false },
  });
  expect(leak).toMatchObject({ advice: 'nothing uses it any more', claim: undefined });
  expect(web?.advice).toMatch(/^delete claim default\/web, create it again/);
});

test('forget removes drives of the list, and no PersistentVolume or claim that is not marked', async () => {
  const { fixture, list, names } = await lostNode();
  const text = forgetFile(await list());
  expect(text).toContain('delete: no');
  const marked = parseForgetFile('f', text.replace(/(name: default\/web\n.*\n +delete:) no/, '$1 yes'));
  const lines: string[] = [];
  await forgetDrives(fixture.cluster, marked, (line) => void lines.push(line));
  expect(lines).toEqual([
    'drive.stowage.dev/n1-a forgotten, with 2 volumes',
    'persistentvolumeclaim default/web deleted',
    'drive.stowage.dev/n1-b forgotten, with 1 volume',
  ]);
  expect(await names()).toEqual(['n2-c']);
  const { items } = await fixture.cluster.resource(persistentVolumes).list();
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(['pv-db', 'pv-web']);
  const claims = await fixture.cluster.resource(persistentVolumeClaims).list();
  const left = claims.items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  expect(left.map(({ metadata }) => metadata?.name)).toEqual(['data-db-0']);
});

test('a drive with a volume that is not on the list is refused', async () => {
  const { fixture, list, names } = await lostNode();
  const old = await list();
  const volumes = [...(await fixture.get('n1-a')).spec!.volumes!, { name: 'pv-new', sizeBytes: 1 }];
  await fixture.merge('n1-a', { spec: { volumes } });
  await expect(forgetDrives(fixture.cluster, old, () => {})).rejects.toThrow(
    'drive n1-a has volumes that are not on the list: pv-new; write the list again with --output-file',
  );
  expect(await names()).toContain('n1-a');
});

test('another drive of the same name is not on the list', async () => {
  const { fixture, list, names } = await lostNode();
  const { node, drives } = await list();
  const older: ForgetList = { node, drives: drives.map((drive) => ({ ...drive, uid: 'older' })) };
  const lines: string[] = [];
  await forgetDrives(fixture.cluster, older, (line) => void lines.push(line));
  expect(lines).toContain('drive.stowage.dev/n1-a is gone already');
  expect(await names()).toEqual(['n1-a', 'n1-b', 'n2-c']);
});

/** The same cluster with the Node, which is alive; drive `n1-a` has this status. */
async function deadDrive(status: object) {
  const lost = await lostNode();
  const { fixture } = lost;
  await fixture.cluster.resource(nodes).create({ metadata: { name: 'n1' } });
  await fixture.merge('n1-a', { status }, 'status');
  return { ...lost, target: (argument: string) => lostTarget(fixture.cluster, argument) };
}

const deviceLost = { conditions: [{ type: 'Mounted', status: 'False', reason: 'DeviceLost' }] };

test.each(['n1-a', 'drive/n1-a', 'drive.stowage.dev/n1-a'])(
  'a dead drive of a living node is forgotten by %s, with entries that are Releasing, and no other one',
  async (argument) => {
    const { fixture, target, names } = await deadDrive({ state: 'Lost' });
    const volumes = (await fixture.get('n1-a')).spec!.volumes!.map((one) => ({ ...one, state: 'Releasing' }));
    await fixture.merge('n1-a', {
      metadata: { finalizers: ['stowage.dev/drive-protection'] },
      spec: { volumes },
    });
    await fixture.delete('n1-a');
    expect(await names()).toContain('n1-a');
    const lost = await target(argument);
    expect(lost.target).toEqual({ node: 'n1', drive: 'n1-a' });
    const objects = await readDriveObjects(fixture.cluster, { withUsers: true });
    const list = parseForgetFile('f', forgetFile(forgetListOf(lost.target, objects, [])));
    expect(list.drive).toBe('n1-a');
    expect(list.drives.map(({ name }) => name)).toEqual(['n1-a']);
    await forgetDrives(fixture.cluster, list, () => {}, lost.problemOf);
    expect(await names()).toEqual(['n1-b', 'n2-c']);
  },
);

test.each<[string, object, string | undefined]>([
  ['in Error', { state: 'Error' }, undefined],
  ['lost while it is being removed', { state: 'Removing', ...deviceLost }, undefined],
  ['Ready', { state: 'Ready' }, 'drive n1-a is Ready, so its data is not lost'],
  ['being repaired', { state: 'Repairing' }, 'drive n1-a is Repairing, so its data is not lost'],
  [
    'one whose filesystem another Drive has',
    { state: 'Error', conditions: [{ type: 'Mounted', status: 'False', reason: 'DuplicateFilesystem' }] },
    'an older Drive has the same filesystem',
  ],
])('a drive that is %s', async (_, status, problem) => {
  const { target } = await deadDrive(status);
  if (problem === undefined) expect((await target('n1-a')).target.drive).toBe('n1-a');
  else await expect(target('n1-a')).rejects.toThrow(problem);
});

test('a drive that came back after the review stays', async () => {
  const { fixture, target, names } = await deadDrive({ state: 'Lost' });
  const lost = await target('n1-a');
  const objects = await readDriveObjects(fixture.cluster, { withUsers: true });
  const list = forgetListOf(lost.target, objects, []);
  await fixture.merge('n1-a', { status: { state: 'Ready' } }, 'status');
  await expect(forgetDrives(fixture.cluster, list, () => {}, lost.problemOf)).rejects.toThrow('is Ready');
  expect(await names()).toContain('n1-a');
});

test('a node that exists, or a name that a drive and a node have, is refused', async () => {
  const { fixture, target } = await deadDrive({ state: 'Lost' });
  await expect(target('n1')).rejects.toThrow('Node n1 exists; if the machine is gone for good');
  await fixture.drive('n1', gib);
  await expect(target('n1')).rejects.toThrow('write drive/n1 or node/n1');
  await expect(target('drive/none')).rejects.toThrow('there is no drive none');
  expect((await target('node/n2')).target).toEqual({ node: 'n2' });
});

test('forget that dies after any write is finished by the next call', async () => {
  const { fixture, list, names } = await lostNode();
  const reviewed = await list();
  for (let writes = 0; ; writes += 1) {
    const cluster = new InterceptedCluster(fixture.cluster);
    let left = writes;
    cluster.addHooks({
      before: ({ verb }) => {
        if (verb !== 'get' && left-- === 0) throw failure(500, 'InternalError', 'died');
      },
    });
    const outcome = await forgetDrives(cluster, reviewed, () => {}).then(
      () => 'done',
      () => 'died',
    );
    expect(await names()).toContain('n2-c');
    if (outcome === 'done') break;
  }
  expect(await names()).toEqual(['n2-c']);
});

test.each([
  ['kind: Other', 'f: kind: must be ForgetList'],
  ['apiVersion: stowage.dev/forget/v1\nkind: ForgetList', 'f: node: is required'],
  [
    'apiVersion: stowage.dev/forget/v1\nkind: ForgetList\nnode: n1\ndrives: [{name: a}]',
    'f: drives[0].uid: is required',
  ],
  [
    'apiVersion: stowage.dev/forget/v1\nkind: ForgetList\nnode: n1\ndrives: [{name: a, uid: u, volumes: [{name: v, claim: {name: c, uid: u, delete: maybe}}]}]',
    'f: drives[0].volumes[0].claim.delete: must be "yes" or "no"',
  ],
  ['a: [', 'f: yaml: '],
])('a file %j is refused', (text, message) => expect(() => parseForgetFile('f', text)).toThrow(message));
