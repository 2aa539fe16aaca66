import { expect, test } from 'vitest';
import { MissingPermission } from '../bind/missing-permission.ts';
import { InterceptedCluster } from '../cluster/intercepted-cluster.ts';
import { failWith, hang, onlyFor } from '../cluster/testing/fault-hooks.ts';
import { stowageProfile } from '../engine/cluster-index/profile.ts';
import { forbidden } from '../kube/api-error.ts';
import type { Resource } from '../kube/resource.ts';
import {
  driverCapacities,
  leases,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../kube/resources.ts';
import type { Controller } from '../reconcile/controller.ts';
import { announcementOf, leaseKeyOf } from '../reconcile/leases/component-lease.ts';
import type { LeadershipChange } from '../reconcile/leases/leadership.ts';
import { announcedProfile } from '../reconcile/leases/scheduler-announcement.ts';
import { systemIds } from '../runtime/ids.ts';
import { Metrics } from '../runtime/metrics.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { type RunControllersOptions, runControllers } from './run-controllers.ts';
import { VirtualTimeCluster } from './testing/virtual-time-cluster.ts';

function process(fixture: VirtualTimeCluster, instance: string, more: Partial<RunControllersOptions> = {}) {
  const { clock, cluster } = fixture;
  const random = seededRandom(instance);
  const supervisor = new Supervisor({ clock, random, onCrash: () => {} });
  const news: string[] = [];
  const onLeadership = ({ controller, kind }: LeadershipChange) => news.push(`${controller} ${kind}`);
  const resources = [persistentVolumeClaims, persistentVolumes, pods, storageClasses];
  const common = { clock, cluster, random, supervisor, resources, ids: systemIds, metrics: new Metrics() };
  const callbacks = { report: () => {}, onError: () => {}, onLeadership };
  const names = ['pv-binder', 'expander'];
  const running = runControllers({ ...common, ...callbacks, names, instance, ...more });
  return { supervisor, news, running, metrics: common.metrics };
}

async function holders(fixture: VirtualTimeCluster): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(leases).list();
  return items.map(({ metadata, spec }) => `${metadata?.name} ${spec?.holderIdentity ?? 'no holder'}`);
}

async function phaseOf(fixture: VirtualTimeCluster, name: string): Promise<string | undefined> {
  const client = fixture.cluster.resource(persistentVolumes);
  await client.create({
    metadata: { name },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  });
  await fixture.settle(1_000);
  return (await client.get({ name })).status?.phase;
}

test('a controller knows the Lease by which others see that it runs', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const seen: Record<string, string | undefined> = {};
  const probe = (name: string, key: string): Controller => ({
    name,
    run: async (context) => {
      seen[key] = context.lease;
    },
  });
  const elected = { leaderElection: true, leaseSuffix: 'csi', names: [], version: '0.1.0' };
  process(fixture, 'elected', { ...elected, more: [probe('capacity', 'elected')] });
  const alone = { names: [], version: '0.1.0' };
  process(fixture, 'alone', { ...alone, more: [probe('capacity', 'announced'), probe('expander', 'none')] });
  const csi = { addresses: [], timeoutMs: 1, nodeName: 'n1' };
  process(fixture, 'node', { ...alone, csi, more: [probe('capacity', 'of a node')] });
  await fixture.settle();
  expect(seen).toEqual({
    elected: 'kube-system/stowage-capacity-csi',
    announced: 'kube-system/stowage-capacity',
    none: undefined,
    'of a node': undefined,
  });
});

test('with leader election each controller has a Lease, and the next process continues when one ends', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const first = process(fixture, 'first', { leaderElection: true, version: '0.1.0' });
  await fixture.settle();
  expect(await holders(fixture)).toEqual(['stowage-expander first', 'stowage-pv-binder first']);
  const second = process(fixture, 'second', { leaderElection: true });
  await fixture.settle();
  expect(second.news).toEqual(['pv-binder follows', 'expander follows']);
  expect(await phaseOf(fixture, 'a')).toBe('Available');
  const closed = first.supervisor.close();
  await fixture.settle(6_000);
  await closed;
  expect(second.news.slice(2).sort()).toEqual(['expander leads', 'pv-binder leads']);
  expect(await phaseOf(fixture, 'b')).toBe('Available');
  await second.supervisor.close();
});

test('installations with different suffixes lead side by side', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const installed = ['drives', 'csi.example.com'].map((leaseSuffix) =>
    process(fixture, `of ${leaseSuffix}`, { names: ['expander'], leaderElection: true, leaseSuffix }),
  );
  await fixture.settle();
  expect(await holders(fixture)).toEqual([
    'stowage-expander-csi.example.com of csi.example.com',
    'stowage-expander-drives of drives',
  ]);
  const closed = installed.map(({ supervisor }) => supervisor.close());
  await fixture.settle(6_000);
  await Promise.all(closed);
});

test('controllers that call the driver of local drives lead where that driver answers', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await fixture.installOwnKinds();
  const names = ['drives', 'provisioner', 'capacity', 'expander', 'pv-binder'];
  const drivesOnly = process(fixture, 'first', { leaderElection: true, names: ['drives'] });
  await fixture.settle();
  const all = process(fixture, 'second', { leaderElection: true, names });
  await fixture.settle(30_000);
  expect(all.news).toEqual(['drives follows', 'pv-binder leads']);
  const closed = drivesOnly.supervisor.close();
  await fixture.settle(10_000);
  await closed;
  expect(all.news.slice(2, 3)).toEqual(['drives leads']);
  expect(all.news.slice(3).sort()).toEqual(['capacity leads', 'expander leads', 'provisioner leads']);
  await all.supervisor.close();
});

test('each node has its own disk agent, and a Lease for it', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const agentOf = (nodeName: string) => ({
    names: ['disk-agent'],
    diskAgent: { nodes: new Map([[nodeName, {}]]), listenHost: '127.0.0.1', port: 0 },
    leaderElection: true,
  });
  const agents = ['n1', 'n2'].map((name) => process(fixture, `agent of ${name}`, agentOf(name)));
  await fixture.settle();
  const another = process(fixture, 'another of n2', agentOf('n2'));
  await fixture.settle(3_000);
  expect(await holders(fixture)).toEqual([
    'stowage-disk-agent-n1 agent of n1',
    'stowage-disk-agent-n2 agent of n2',
    'stowage-disk-heartbeat-n1 n1',
    'stowage-disk-heartbeat-n2 n2',
  ]);
  expect(another.news).toEqual(['disk-agent-n2 follows']);
  const closed = [...agents, another].map(({ supervisor }) => supervisor.close());
  await fixture.settle(12_000);
  await Promise.all(closed);
});

test('without leader election they start at once, and announce the components that others compare with', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const { supervisor, news } = process(fixture, 'here', { version: '0.1.0' });
  expect(await phaseOf(fixture, 'a')).toBe('Available');
  expect(await holders(fixture)).toEqual(['stowage-pv-binder no holder']);
  expect(news).toEqual([]);
  await supervisor.close();
});

test('the scheduler announces which pods it places, and by which profile', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const profile = { ...stowageProfile, name: 'stowage, changed', settledPromiseMaxMs: 1 };
  const settings = { names: ['scheduler'], schedulerNames: ['stowage', 'default-scheduler'], profile };
  const { supervisor } = process(fixture, 'here', { version: '0.1.0', ...settings });
  await fixture.settle();
  const { scheduler } = announcementOf(await fixture.cluster.resource(leases).get(leaseKeyOf('scheduler')));
  expect(scheduler?.names).toEqual(settings.schedulerNames);
  expect(announcedProfile(scheduler!)).toEqual(profile);
  await supervisor.close();
});

test('they are ready when they have started and their caches are synced', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const { supervisor, running } = process(fixture, 'here');
  expect(running.waitingFor()).toEqual(['controller pv-binder', 'controller expander']);
  await fixture.settle(0);
  await fixture.settle();
  expect(running.waitingFor()).toEqual([]);
  await supervisor.close();
});

test('a cache that cannot be synced keeps them from being ready', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const cluster = new InterceptedCluster(fixture.cluster);
  cluster.addHooks({ before: hang() });
  const { supervisor, running } = process(fixture, 'here', { cluster });
  await fixture.settle(60_000);
  expect(running.waitingFor()).toContain('persistentvolumes');
  const closed = supervisor.close();
  await fixture.settle(60_000);
  await closed;
});

test('a controller on standby is ready', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const first = process(fixture, 'first', { leaderElection: true });
  await fixture.settle();
  const second = process(fixture, 'second', { leaderElection: true });
  await fixture.settle();
  expect(second.running.waitingFor()).toEqual([]);
  for (const { supervisor } of [first, second]) {
    const closed = supervisor.close();
    await fixture.settle(6_000);
    await closed;
  }
});

test('additional controllers run beside the named ones, and the calls of all are counted', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const begun: string[] = [];
  const guest: Controller = {
    name: 'guest',
    run: async ({ cluster }, signal) => {
      await cluster.resource(pods).list({ signal });
      begun.push('guest');
    },
  };
  const { supervisor, metrics } = process(fixture, 'here', { names: [], more: [guest] });
  await fixture.settle();
  expect(begun).toEqual(['guest']);
  expect(metrics.render()).toContain(
    'stowage_api_requests_total{verb="list",resource="pods",code="200"} 1\n',
  );
  await supervisor.close();
});

test('pools that may not be read are one warning with the remedy, and none where the kind does not exist', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const refusing = new InterceptedCluster(fixture.cluster);
  const error = forbidden(driverCapacities, '', 'User "u" cannot list resource');
  refusing.addHooks(
    onlyFor(({ resource }) => resource.plural === driverCapacities.plural, { before: failWith(error) }),
  );
  let served: readonly Resource[] = [pods];
  const cluster = Object.assign(refusing, { discover: async () => ({ resources: served }) });
  const errors: unknown[] = [];
  const onError = (each: unknown) => errors.push(each);
  const { supervisor } = process(fixture, 'one', { names: ['scheduler'], cluster, onError });
  await fixture.settle(600_000);
  expect(errors).toEqual([]);
  served = [pods, driverCapacities];
  await fixture.settle(600_000);
  expect(errors).toEqual([new MissingPermission()]);
  await supervisor.close();
});
