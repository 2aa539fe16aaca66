import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { type ClusterHooks, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites, isObjectWrite } from '../../cluster/testing/fault-hooks.ts';
import { requestRepairing, writeDriveState } from '../../drives/devices/drive-state.ts';
import { unenforcedQuota } from '../../drives/host/project-quota.ts';
import { moveVolumes } from '../../drives/move/move-volumes.ts';
import { differenceBetween } from '../../drives/move/same-tree.ts';
import { DrivesFixture } from '../../drives/testing/drives-fixture.ts';
import { inProcessCommands, inProcessDirectories, moveFolder } from '../../drives/testing/move-faults.ts';
import { conflict } from '../../kube/api-error.ts';
import { nodes, persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { moveMarkOf } from '../../queries/drain/move-mark.ts';
import type { Clock } from '../../runtime/clock.ts';
import { loadCluster } from '../source/load-cluster.ts';
import type { DriveCopier, MoveContext } from './move-context.ts';
import { moveDrive, openAfterMove } from './move-drive.ts';

const gib = 2 ** 30;
const namespace = 'default';
const volumes = ['pvc-1', 'pvc-2'];

/** Node n with drive a, which has two volumes, the first with data, and drives b and c, each with room for one of them. A pod uses each volume. */
class MovingDrives {
  readonly fixture: DrivesFixture;
  readonly suffix: string;
  readonly root: string;

  private constructor(fixture: DrivesFixture, suffix: string) {
    this.fixture = fixture;
    this.suffix = suffix;
    this.root = moveFolder();
  }

  static async create(fixture: DrivesFixture, suffix: string): Promise<MovingDrives> {
    const own = new MovingDrives(fixture, suffix);
    const { cluster } = fixture;
    const node = own.name('n');
    await cluster.resource(nodes).create({ metadata: { name: node } });
    const entries = volumes.map((name) => ({
      name,
      sizeBytes: gib,
      claimRef: { namespace, name: own.name(name) },
    }));
    for (const drive of ['a', 'b', 'c']) {
      mkdirSync(own.mount(own.name(drive)));
      const spec = drive === 'a' ? { volumes: entries } : {};
      await fixture.drive(own.name(drive), drive === 'a' ? 4 * gib : gib, { node, spec });
    }
    for (const folder of [own.path('a', 'pvc-1'), own.reference]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'data'), 'content'.repeat(100));
      for (const path of [join(folder, 'data'), folder]) utimesSync(path, 1_000, 1_000);
    }
    for (const volume of volumes) await own.#usePod(volume, node);
    return own;
  }

  async #usePod(volume: string, nodeName: string): Promise<void> {
    const name = this.name(volume);
    const { cluster } = this.fixture;
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true };
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await cluster.resource(pods).create({
      metadata: { namespace, name, ownerReferences: [owner] },
      spec: {
        nodeName,
        containers: [{ name: 'main', image: 'main' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
      },
    });
  }

  get reference(): string {
    return join(this.root, 'reference');
  }

  name(short: string): string {
    return `${short}${this.suffix}`;
  }

  mount(drive: string): string {
    return join(this.root, drive);
  }

  path(short: string, volume: string): string {
    return join(this.mount(this.name(short)), 'volumes', volume);
  }

  async names(short: string): Promise<readonly string[]> {
    return ((await this.fixture.get(this.name(short))).spec?.volumes ?? []).map(({ name }) => name);
  }

  /** Whether the drive has the entry, and data that equals what the volume had at first. */
  async hasAll(short: string, volume: string): Promise<boolean> {
    if (!(await this.names(short)).includes(volume)) return false;
    // No pod has used the second volume yet.
    if (volume !== 'pvc-1') return true;
    const path = this.path(short, volume);
    return existsSync(path) && (await differenceBetween(this.reference, path)) === undefined;
  }

  /** One call of the command. */
  context(hooks: ClusterHooks = {}, canCopy = true): MoveContext {
    const own = this.fixture.clock;
    // Time passes while the move waits, and only then.
    const clock: Clock = {
      nowMs: () => own.nowMs(),
      monotonicMs: () => own.monotonicMs(),
      after: (ms, callback) => own.after(ms, callback),
      sleep: (ms) => own.advance(ms),
    };
    const cluster = new InterceptedCluster(this.fixture.cluster, hooks);
    cluster.addHooks({
      before: async (call) => {
        // The kubelet ends pods that are being deleted.
        if (call.verb === 'get' && call.resource.plural === 'pods') await this.#endPods();
      },
    });
    const load = async () => ({
      view: await loadCluster(
        cluster,
        { namespace },
        { server: 'test', source: 'test', onProgress: () => {}, needsPolicies: true },
      ),
      disks: undefined,
      clock,
      profile: 'stowage' as const,
    });
    return {
      cluster,
      clock,
      deadlineMs: clock.monotonicMs() + 60_000,
      load,
      copier: canCopy ? this.#copier(cluster) : undefined,
      onChange: () => {},
      onProgress: () => {},
    };
  }

  async #endPods(): Promise<void> {
    const client = this.fixture.cluster.resource(pods);
    for (const { metadata } of (await client.list({ namespace })).items)
      if (metadata?.deletionTimestamp !== undefined)
        await client.delete({ namespace, name: metadata.name! }, { gracePeriodSeconds: 0 });
  }

  /** As `stowage drives move` on the node, on folders instead of devices. */
  #copier(cluster: Cluster): DriveCopier {
    const directories = new Proxy(inProcessDirectories(), {
      get: (all, method: 'begin') => async (mount: string, volume: string) => {
        await this.#requireCopied(method, mount, volume);
        return await all[method](mount, volume);
      },
    });
    return {
      copy: async (job, onProgress) => {
        const running = (await this.fixture.cluster.resource(pods).list({ namespace })).items;
        expect(running.map(({ metadata }) => metadata?.name)).not.toContainEqual(this.name('pvc-1'));
        const ends = [job.source, job.target].map((drive) => ({ drive, mount: this.mount(drive) }));
        await requestRepairing(cluster, await this.fixture.get(job.source));
        await moveVolumes(ends[0]!, ends[1]!, {
          cluster,
          commands: inProcessCommands,
          directories,
          quota: unenforcedQuota,
          compareCopy: differenceBetween,
          onProgress,
          volumes: new Set(job.volumes),
        });
        // The node service reports what it sees.
        await writeDriveState(cluster, await this.fixture.get(job.source), 'Ready');
      },
    };
  }

  /** No byte of the source is released before a drive with the only entry has an equal copy. */
  async #requireCopied(method: string, mount: string, volume: string): Promise<void> {
    if (!['retire', 'remove'].includes(method) || mount !== this.mount(this.name('a'))) return;
    const isCopied = (await this.hasAll('b', volume)) || (await this.hasAll('c', volume));
    expect([volume, isCopied]).toEqual([volume, true]);
    if (method === 'remove') expect(await this.names('a')).not.toContain(volume);
  }

  async expectMoved(): Promise<void> {
    expect(await this.names('a')).toEqual([]);
    expect([...(await this.names('b')), ...(await this.names('c'))].toSorted()).toEqual(volumes);
    for (const volume of volumes) {
      expect([volume, (await this.hasAll('b', volume)) || (await this.hasAll('c', volume))]).toEqual([
        volume,
        true,
      ]);
      expect(existsSync(this.path('a', volume))).toBe(false);
    }
    for (const [short, isCordoned] of [
      ['a', true],
      ['b', false],
      ['c', false],
    ] as const) {
      const drive = await this.fixture.get(this.name(short));
      expect([short, drive.spec?.unschedulable === true, moveMarkOf(drive)]).toEqual([
        short,
        isCordoned,
        undefined,
      ]);
    }
    const node = await this.fixture.cluster.resource(nodes).get({ name: this.name('n') });
    expect([node.spec?.unschedulable, node.metadata?.annotations]).toEqual([undefined, undefined]);
  }

  async remove(): Promise<void> {
    const { cluster } = this.fixture;
    for (const short of ['a', 'b', 'c']) await this.fixture.delete(this.name(short));
    for (const volume of volumes)
      await cluster.resource(persistentVolumeClaims).delete({ namespace, name: this.name(volume) });
    await cluster.resource(nodes).delete({ name: this.name('n') });
  }
}

const done = { left: [], waiting: [], commands: [] };

// The steps between the writes of the copy have tests of their own, in drives/move.
test('after an end at any write nothing is lost, and the next call completes the move', async () => {
  const fixture = await DrivesFixture.start();
  for (let writes = 1, hasEnded = true; hasEnded; writes += 1) {
    const drives = await MovingDrives.create(fixture, `-${writes}`);
    const crash = new CrashAfterWrites(writes);
    await moveDrive(drives.name('a'), drives.context(crash)).catch((error: unknown) =>
      expect(String(error)).toBe('Error: the connection to the cluster is lost'),
    );
    hasEnded = crash.hasCrashed;
    for (const volume of volumes) {
      const found = await Promise.all(['a', 'b', 'c'].map((short) => drives.hasAll(short, volume)));
      expect([writes, volume, found.includes(true)]).toEqual([writes, volume, true]);
    }
    expect([writes, await moveDrive(drives.name('a'), drives.context())]).toEqual([writes, done]);
    await drives.expectMoved();
    await drives.remove();
    if (!hasEnded) expect(writes).toBe(18);
  }
});

test('a write that another client was faster than is decided again', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  const late = new Set<string>();
  const context = drives.context({
    before: (call) => {
      const write = JSON.stringify([call.resource.plural, call.name, Object.keys(Object(call.body))]);
      if (!isObjectWrite(call) || late.has(write)) return;
      late.add(write);
      throw conflict(call.resource, call.name, 'another client has written it');
    },
  });
  expect(await moveDrive('a', context)).toEqual(done);
  await drives.expectMoved();
  expect(late.size).toBeGreaterThan(9);
});

test('on another machine everything is prepared, and the command for the node is named', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  const outcome = await moveDrive('a', drives.context({}, false));
  expect(outcome.commands).toEqual([
    { node: 'n', command: 'stowage drives move a b --volume pvc-1' },
    { node: 'n', command: 'stowage drives move a c --volume pvc-2' },
  ]);
  expect((await drives.fixture.cluster.resource(nodes).get({ name: 'n' })).spec?.unschedulable).toBe(true);
  expect(
    (await drives.fixture.cluster.resource(pods).list({ namespace })).items.map(
      ({ metadata }) => metadata?.deletionTimestamp !== undefined,
    ),
  ).toEqual([]);
  // Then root does that on the node, and the next call finds it done.
  expect(await moveDrive('a', drives.context())).toEqual(done);
  await drives.expectMoved();
});

test('a move that is given up opens what it has closed, but no drive whose copy was interrupted', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  await moveDrive('a', drives.context({}, false));
  const context = drives.context();
  await drives.fixture.merge('b', { status: { state: 'Repairing' } }, 'status');
  expect(await openAfterMove('a', context, { isGivenUp: true })).toEqual([
    'drive b is in the state Repairing: a copy has been interrupted, or still runs',
  ]);
  expect((await drives.fixture.get('c')).spec?.unschedulable).toBe(false);
  await drives.fixture.merge('b', { status: { state: 'Ready' } }, 'status');
  expect(await openAfterMove('a', context, { isGivenUp: true })).toEqual([]);
  expect((await drives.fixture.get('b')).spec?.unschedulable).toBe(false);
  expect(
    (await drives.fixture.cluster.resource(nodes).get({ name: 'n' })).spec?.unschedulable,
  ).toBeUndefined();
  expect(await drives.names('a')).toEqual(volumes);
});

test('nothing is written while a pod that no controller creates again uses a drive', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  const client = drives.fixture.cluster.resource(pods);
  await client.patch(
    { namespace, name: 'pvc-1' },
    { type: 'merge', body: { metadata: { ownerReferences: null } } },
  );
  const { left } = await moveDrive('a', drives.context(new CrashAfterWrites(1)));
  expect(left.map(({ kind, name }) => [kind, name])).toEqual([['pod', 'default/pvc-1']]);
});

test('a drive of which nothing can be moved is not cordoned: nothing is written', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  for (const name of ['b', 'c']) await drives.fixture.merge(name, { spec: { unschedulable: true } });
  const { left } = await moveDrive('a', drives.context(new CrashAfterWrites(1)));
  expect(left.map(({ kind, name }) => [kind, name])).toEqual([
    ['volume', 'pvc-1'],
    ['volume', 'pvc-2'],
  ]);
  expect((await drives.fixture.get('a')).spec?.unschedulable).not.toBe(true);
});

test('if the targets are taken while the drive is being cordoned, the cordon is removed again', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  const takeTargets = async () => {
    for (const name of ['b', 'c']) await drives.fixture.merge(name, { spec: { unschedulable: true } });
  };
  let isTaken = false;
  const context = drives.context({
    before: async (call) => {
      if (!isObjectWrite(call) || isTaken) return;
      isTaken = true;
      await takeTargets();
    },
  });
  const { left } = await moveDrive('a', context);
  expect(left.length).toBe(2);
  const { spec, metadata } = await drives.fixture.get('a');
  expect([spec?.unschedulable, metadata?.annotations ?? {}]).toEqual([false, {}]);
});

test.each([
  ['removes the cordon of the drive that the move has made', false],
  ['keeps the cordon of the drive that a person has made before', true],
])('--undo %s', async (_, isOfPerson) => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  if (isOfPerson) await drives.fixture.merge('a', { spec: { unschedulable: true } });
  await moveDrive('a', drives.context({}, false));
  expect((await drives.fixture.get('a')).spec?.unschedulable).toBe(true);
  expect(await openAfterMove('a', drives.context(), { isGivenUp: true })).toEqual([]);
  const { spec, metadata } = await drives.fixture.get('a');
  expect([spec?.unschedulable === true, metadata?.annotations ?? {}]).toEqual([isOfPerson, {}]);
});

test('--undo opens the drives also if their Node was deleted meanwhile', async () => {
  const drives = await MovingDrives.create(await DrivesFixture.start(), '');
  await moveDrive('a', drives.context({}, false));
  await drives.fixture.cluster.resource(nodes).delete({ name: 'n' });
  expect(await openAfterMove('a', drives.context(), { isGivenUp: true })).toEqual([]);
  for (const name of ['a', 'b', 'c']) {
    const { spec, metadata } = await drives.fixture.get(name);
    expect([name, spec?.unschedulable === true, metadata?.annotations ?? {}]).toEqual([name, false, {}]);
  }
});
