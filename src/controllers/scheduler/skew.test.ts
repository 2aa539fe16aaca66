import { expect, test } from 'vitest';
import type { Lease } from '../../kube/api/coordination.ts';
import { leases } from '../../kube/resources.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { announcementAnnotations, leaseKeyOf } from '../../reconcile/leases/component-lease.ts';
import {
  type ElectedOptions,
  withLeaderElection,
} from '../../reconcile/leases/testing/with-leader-election.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { pvBinderController } from '../volumes/pv-binder/pv-binder.ts';
import { schedulerController } from './scheduler.ts';
import { PvBinderSkew, type PvBinderSkewState } from './skew.ts';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

interface Component {
  readonly version: string;
  readonly volumeScheduling: boolean;
}

const old: Component = { version: '0.1.7', volumeScheduling: false };
const newer: Component = { version: '0.2.0', volumeScheduling: true };

/** A scheduler that records the states that it was given. */
function schedulerOf({ version, volumeScheduling }: Component, states: PvBinderSkewState[]): Controller {
  return {
    name: 'scheduler',
    run: async (context, signal) => {
      let current = new AbortController();
      const runs: Promise<void>[] = [];
      const onChange = (state: PvBinderSkewState) => {
        const isSame = states.at(-1)?.bindsVolumes === state.bindsVolumes;
        states.push(state);
        if (isSame) return;
        current.abort();
        current = new AbortController();
        runs.push(schedulerController({ volumeScheduling: state.bindsVolumes }).run(context, current.signal));
      };
      const ownGates = { VolumeScheduling: volumeScheduling };
      await new PvBinderSkew({ ...context, ownGates, ownVersion: version, onChange, signal }).run();
      current.abort();
      await Promise.all(runs);
    },
  };
}

function binderOf(component: Component, identity: string): Controller {
  const options: ElectedOptions = { identity, ...component };
  return withLeaderElection(pvBinderController(component), options);
}

async function begin(): Promise<SchedulerFixture> {
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await fixture.seed();
  await fixture.disk('d2', '10Gi', 'n2');
  await fixture.disk('d3', '10Gi', 'n3');
  return fixture;
}

const gateNote =
  'VolumeScheduling is off in the PV binder (0.1.7) and on in the scheduler: claims are bound at once, and the scheduler does ' +
  'not bind volumes; start the PV binder with --feature-gates VolumeScheduling=true';
const waitNote =
  'VolumeScheduling is on in the PV binder (0.2.0) and off in the scheduler: claims that wait for their first consumer are not bound, ' +
  'and their pods wait; start the scheduler with --feature-gates VolumeScheduling=true';

test('upgrading the scheduler first: pods go where the old PV binder bound their claims', async () => {
  await using fixture = await begin();
  const { environment } = fixture;
  const binder = environment.run([binderOf(old, 'old')]);
  await fixture.settle();
  const states: PvBinderSkewState[] = [];
  environment.run([schedulerOf(newer, states)]);
  await fixture.settle();
  await fixture.claim('early', '5Gi');
  await fixture.settle();
  await fixture.pod('early', ['early']);
  await fixture.settle(3_000);
  expect((await fixture.summary()).filter((line) => line.includes('early'))).toEqual([
    expect.stringMatching(/^claim early has d[23]$/),
    expect.stringMatching(/^disk d[23] Bound to early$/),
    expect.stringMatching(/^pod early on n[23]$/),
  ]);
  expect(states.map(({ bindsVolumes }) => bindsVolumes)).toEqual([false, false]);
  expect(await fixture.eventsOf('stowage-pv-binder')).toEqual([
    `GateSkew: ${gateNote}`,
    'VersionSkew: the PV binder is 0.1.7 and the scheduler is 0.2.0; bring both to the same version',
  ]);

  environment.run([binderOf(newer, 'new')]);
  await fixture.settle();
  const closed = binder.close();
  await fixture.claim('late', '5Gi');
  await fixture.pod('late', ['late']);
  await fixture.settle(10_000);
  await closed;
  expect(states.at(-1)).toEqual({ bindsVolumes: true, problem: undefined });
  expect(await fixture.place('late')).toMatch(/^n[23]$/);
});

test('upgrading the PV binder first: pods wait for the new scheduler, and an event says why', async () => {
  await using fixture = await begin();
  const { environment } = fixture;
  environment.run([binderOf(newer, 'new')]);
  await fixture.settle();
  const states: PvBinderSkewState[] = [];
  const before = environment.run([schedulerOf(old, states)]);
  await fixture.settle();
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.pod('plain');
  await fixture.settle(20_000);
  expect(await fixture.place('plain')).toMatch(/^n[123]$/);
  expect(await fixture.place('web')).not.toMatch(/^n[123]$/);
  expect(states).toEqual([
    { bindsVolumes: false, problem: undefined },
    {
      bindsVolumes: false,
      problem: `${waitNote}. the PV binder is 0.2.0 and the scheduler is 0.1.7; bring both to the same version`,
    },
  ]);
  expect(await fixture.eventsOf('stowage-pv-binder')).toContain(`GateSkew: ${waitNote}`);

  await before.close();
  const after: PvBinderSkewState[] = [];
  environment.run([schedulerOf(newer, after)]);
  await fixture.settle(3_000);
  expect(after).toEqual([{ bindsVolumes: true, problem: undefined }]);
  expect(await fixture.place('web')).toMatch(/^n[23]$/);
});

/** Runs only the comparison, and returns its states. */
function watchSkew(environment: VirtualTimeCluster, own: Component): readonly PvBinderSkewState[] {
  const states: PvBinderSkewState[] = [];
  const run: Controller['run'] = async (context, signal) => {
    const ownGates = { VolumeScheduling: own.volumeScheduling };
    const onChange = (state: PvBinderSkewState) => states.push(state);
    await new PvBinderSkew({ ...context, ownGates, ownVersion: own.version, onChange, signal }).run();
  };
  environment.run([{ name: 'scheduler', run }]);
  return states;
}

function leaseOf(environment: VirtualTimeCluster, component: Component, agoMs = 0): Lease {
  const renewTime = new Date(environment.clock.nowMs() - agoMs).toISOString().replace('Z', '000Z');
  const gates = { VolumeScheduling: component.volumeScheduling };
  return {
    metadata: {
      ...leaseKeyOf('pv-binder'),
      annotations: announcementAnnotations({ version: component.version, gates }),
    },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime },
  };
}

const binds = { bindsVolumes: true, problem: undefined };

test('without a PV binder, Kubernetes’ PV controller is assumed, which delays binding', async () => {
  await using environment = await VirtualTimeCluster.start();
  const states = watchSkew(environment, newer);
  const others = watchSkew(environment, { ...newer, volumeScheduling: false });
  await environment.settle();
  expect([states, others]).toEqual([[binds], [{ bindsVolumes: false, problem: undefined }]]);
  await environment.settle(20_000);
  expect(states).toEqual([binds]);
  expect(others.at(-1)?.problem).toMatch(/^VolumeScheduling is on in Kubernetes' PV controller and off in/);
});

test('a Lease counts until it expires', async () => {
  await using environment = await VirtualTimeCluster.start();
  const client = environment.cluster.resource(leases);
  await client.create(leaseOf(environment, { ...newer, volumeScheduling: false }));
  const states = watchSkew(environment, newer);
  await environment.settle(10_000);
  await client.patch(leaseKeyOf('pv-binder'), { type: 'merge', body: { spec: { leaseTransitions: 1 } } });
  await environment.settle(10_000);
  expect(states).toEqual([
    { bindsVolumes: false, problem: undefined },
    { bindsVolumes: false, problem: expect.stringMatching(/^VolumeScheduling is off in the PV binder/) },
  ]);
  await environment.settle(10_000);
  expect(states.at(-1)).toEqual(binds);
});

test('the Lease of a PV binder that is just being restarted is not reported', async () => {
  await using environment = await VirtualTimeCluster.start();
  const client = environment.cluster.resource(leases);
  const own = { ...newer, volumeScheduling: false };
  await client.create(leaseOf(environment, newer));
  const states = watchSkew(environment, own);
  await environment.settle();
  const { metadata = {} } = leaseOf(environment, own);
  const body = { metadata: { annotations: metadata.annotations } };
  await client.patch(leaseKeyOf('pv-binder'), { type: 'merge', body });
  await environment.settle(10_000);
  expect(states).toEqual([{ bindsVolumes: false, problem: undefined }]);
  expect(await environment.eventLines()).toEqual([]);
});

test('a Lease that expired long ago does not count', async () => {
  await using environment = await VirtualTimeCluster.start();
  await environment.cluster.resource(leases).create(leaseOf(environment, old, 60_000));
  const states = watchSkew(environment, newer);
  await environment.settle();
  expect(states).toEqual([binds]);
});

test.each([
  ['0.2.0', '0.2.9', undefined],
  ['0.2.0', 'v0.2.1-rc.1', undefined],
  ['0.2.0', '0.20.0', 'VersionSkew'],
  ['1.2.0', '2.2.0', 'VersionSkew'],
  ['0.2.0', '', undefined],
])('the scheduler is %s, the PV binder is %s: %s', async (own, theirs, reason) => {
  await using environment = await VirtualTimeCluster.start();
  const states = watchSkew(environment, { version: own, volumeScheduling: true });
  await environment.settle();
  await environment.cluster
    .resource(leases)
    .create(leaseOf(environment, { version: theirs, volumeScheduling: true }));
  await environment.settle();
  expect(states.at(-1)?.bindsVolumes).toBe(true);
  expect((await environment.eventLines()).map((line) => line.split(' ')[0])).toEqual(
    reason === undefined ? [] : [reason],
  );
});
