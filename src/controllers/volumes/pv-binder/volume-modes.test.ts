import { expect, test } from 'vitest';
import { byName } from '../../../engine/testing/objects.ts';
import { runBinder } from './testing/binder-outcome.ts';
import type { InitialClaim, InitialVolume } from './testing/initial-objects.ts';

/* Raw devices and file systems; kube-controller-manager's TestSyncBlockVolume. */

const file = 'Filesystem' as const;
const block = 'Block' as const;
const nothing = 'FailedBinding c: no persistent volumes available for this claim and no storage class is set';
const mismatch = 'VolumeMismatch c: Cannot bind to requested volume "v": incompatible volumeMode';
const onClaim =
  'VolumeMismatch c: Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.';
const onVolume =
  'VolumeMismatch v: Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" due to incompatible volumeMode.';

interface Case {
  readonly name: string;
  readonly claim: Omit<InitialClaim, 'name'>;
  readonly volume: Omit<InitialVolume, 'name'>;
  readonly end: readonly string[];
  readonly events?: readonly string[];
}

const found = 'c: Bound on v (1Gi), by controller, complete';
const named = 'c: Bound on v (1Gi), complete';

const cases: readonly Case[] = [
  ...[block, file].flatMap((mode): Case[] => [
    {
      name: `${mode} gets ${mode}`,
      claim: { mode },
      volume: { mode },
      end: [found, 'v: Bound for c, by controller'],
    },
    {
      name: `${mode} gets ${mode} that it names`,
      claim: { mode, on: 'v' },
      volume: { mode },
      end: [named, 'v: Bound for c, by controller'],
    },
    {
      name: `${mode} gets ${mode} that names it`,
      claim: { mode },
      volume: { mode, for: 'c' },
      end: [found, 'v: Bound for c'],
    },
    {
      name: `${mode} gets ${mode} that names it with the uid, without a warning`,
      claim: { mode },
      volume: { mode, for: 'c', uid: 'own', byController: true },
      end: [found, 'v: Bound for c, by controller'],
    },
  ]),
  ...[
    { wanted: block, offered: file },
    { wanted: file, offered: block },
  ].flatMap(({ wanted, offered }): Case[] => [
    {
      name: `${wanted} gets no ${offered}`,
      claim: { mode: wanted },
      volume: { mode: offered },
      end: ['c: Pending', 'v: Available'],
      events: [nothing],
    },
    {
      name: `${wanted} gets no ${offered} that it names`,
      claim: { mode: wanted, on: 'v' },
      volume: { mode: offered },
      end: ['c: Pending on v', 'v: Available'],
      events: [mismatch],
    },
    {
      name: `${wanted} gets no ${offered} that names it`,
      claim: { mode: wanted },
      volume: { mode: offered, for: 'c' },
      end: ['c: Pending', 'v: Available for c (no uid)'],
      events: [nothing],
    },
    {
      name: `${wanted} gets no ${offered} that names it with the uid, and both get an Event`,
      claim: { mode: wanted },
      volume: { mode: offered, for: 'c', uid: 'own', byController: true },
      end: ['c: Pending', 'v: Available for c, by controller'],
      events: [nothing, onClaim, onVolume],
    },
  ]),
  {
    name: 'the class has to match too',
    claim: { mode: file, className: 'silver' },
    volume: { mode: file, className: 'gold' },
    end: ['c: Pending', 'v: Available'],
    events: ['ProvisioningFailed c: storageclass.storage.k8s.io "silver" not found'],
  },
  {
    name: 'the mode has to match too',
    claim: { mode: block, className: 'gold' },
    volume: { mode: file, className: 'gold' },
    end: ['c: Pending', 'v: Available'],
    events: ['ProvisioningFailed c: storageclass.storage.k8s.io "gold" not found'],
  },
  {
    name: 'the class of a volume that is named has to match too',
    claim: { mode: file, className: 'silver', on: 'v' },
    volume: { mode: file, className: 'gold' },
    end: ['c: Pending on v', 'v: Available'],
    events: ['VolumeMismatch c: Cannot bind to requested volume "v": storageClassName does not match'],
  },
];

test.each(byName(cases))('%s', async (_, { claim, volume, end, events = [] }) => {
  const outcome = await runBinder({
    claims: [{ name: 'c', ...claim }],
    volumes: [{ name: 'v', ...volume }],
  });
  expect([...outcome.claims, ...outcome.volumes]).toEqual(end);
  expect(outcome.events).toEqual(events);
});
