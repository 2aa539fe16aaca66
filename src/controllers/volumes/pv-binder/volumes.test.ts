import { expect, test } from 'vitest';
import { byName } from '../../../engine/testing/objects.ts';
import { annotations } from '../../../kube/well-known.ts';
import { runBinder } from './testing/binder-outcome.ts';
import type { InitialObjects, InitialVolume } from './testing/initial-objects.ts';

/* The phases of volumes; set 4 of kube-controller-manager's TestSync, TestMultiSync, and its tests of deletion and recycling. */

interface Case extends InitialObjects {
  readonly name: string;
  readonly end: readonly string[];
  readonly events?: readonly string[];
}

const madeByCsi = { extraAnnotations: { [annotations.provisionedBy]: 'disk.example.com' } } as const;
const orphan = { name: 'v', for: 'c', uid: 'other', phase: 'Bound', policy: 'Delete' } as const;
const hostPath = { source: { hostPath: { path: '/mnt/disk' } } } as const;

const phaseCases: readonly Case[] = [
  { name: 'a new volume is Available', volumes: [{ name: 'v', phase: 'Pending' }], end: ['v: Available'] },
  {
    name: 'a volume that is reserved for the name of a claim is Available',
    volumes: [{ name: 'v', phase: 'Pending', for: 'c' }],
    end: ['v: Available for c (no uid)'],
  },
  {
    name: 'a volume whose claim is gone is Released',
    volumes: [{ name: 'v', for: 'c', uid: 'other', phase: 'Bound' }],
    end: ['v: Released for c (other uid)'],
  },
  {
    name: 'a volume whose claim was replaced by one of the same name is Released',
    claims: [{ name: 'c', on: 'x' }],
    volumes: [{ name: 'v', for: 'c', uid: 'other', phase: 'Bound' }],
    end: ['c: Pending on x', 'v: Released for c (other uid)'],
  },
  {
    name: 'a volume that the controller bound to a claim without a volume is bound',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', phase: 'Bound', byController: true }],
    end: ['c: Bound on v (1Gi), by controller, complete', 'v: Bound for c, by controller'],
  },
  {
    name: 'a volume that a user bound to a claim without a volume is bound',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', phase: 'Bound' }],
    end: ['c: Bound on v (1Gi), by controller, complete', 'v: Bound for c'],
  },
  {
    name: 'a volume whose claim is bound to it is Bound, and not deleted',
    claims: [{ name: 'c', on: 'v', phase: 'Bound' }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', policy: 'Delete' }],
    end: ['c: Bound on v, complete', 'v: Bound for c'],
  },
  {
    name: 'a volume that the controller bound to a claim which took another is unbound',
    claims: [{ name: 'c', on: 'x', phase: 'Bound', isComplete: true }],
    volumes: [
      { name: 'v', for: 'c', uid: 'own', phase: 'Bound', byController: true },
      { name: 'x', for: 'c', uid: 'own', phase: 'Bound' },
    ],
    end: ['c: Bound on x, complete', 'v: Available', 'x: Bound for c'],
  },
  {
    name: 'a volume that a user reserved for a claim which took another stays reserved for the name',
    claims: [{ name: 'c', on: 'x', phase: 'Bound', isComplete: true }],
    volumes: [
      { name: 'v', for: 'c', uid: 'own', phase: 'Bound' },
      { name: 'x', for: 'c', uid: 'own', phase: 'Bound' },
    ],
    end: ['c: Bound on x, complete', 'v: Available for c (no uid)', 'x: Bound for c'],
  },
  {
    name: 'of two volumes that the controller bound to one claim, one is unbound',
    claims: [{ name: 'c' }],
    volumes: [
      { name: 'a', for: 'c', uid: 'own', phase: 'Bound', byController: true },
      { name: 'b', for: 'c', uid: 'own', phase: 'Bound', byController: true },
    ],
    end: ['c: Bound on a (1Gi), by controller, complete', 'a: Bound for c, by controller', 'b: Available'],
  },
];

function released(name: string, more: Partial<InitialVolume>): Case {
  const volumes = [{ ...orphan, ...more }];
  return { name, volumes, end: ['v: Released for c (other uid)'] };
}

function failed(name: string, event: string, more: Partial<InitialVolume>): Case {
  const volumes = [{ ...orphan, ...more }];
  return { name, volumes, end: ['v: Failed for c (other uid)'], events: [event] };
}

const reclaimCases: readonly Case[] = [
  released('a volume that is to be kept is Released and kept', { policy: 'Retain' }),
  released('a volume that a provisioner made is left to it', madeByCsi),
  released('a CSI volume that a person made is left to its driver', {}),
  released('a disk that a CSI driver took over is left to it', {
    ...hostPath,
    extraAnnotations: { [annotations.provisionedBy]: 'kubernetes.io/gce-pd' },
  }),
  failed(
    'a host path with policy Delete has no deleter',
    'VolumeFailedDelete v: host_path deleter only supports /tmp/.+ but received provided /mnt/disk',
    hostPath,
  ),
  failed(
    'a network share with policy Delete has no deleter',
    'VolumeFailedDelete v: error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
    { source: { nfs: { server: 's', path: '/' } } },
  ),
  failed(
    'a volume of a removed plugin has no deleter',
    'VolumeFailedDelete v: no volume plugin matched name: kubernetes.io/unknown',
    { ...hostPath, extraAnnotations: { [annotations.provisionedBy]: 'kubernetes.io/unknown' } },
  ),
  failed(
    'a volume with policy Recycle is not recycled',
    'VolumeFailedRecycle v: No recycler plugin found for the volume!',
    { ...hostPath, policy: 'Recycle' },
  ),
  {
    name: 'of two volumes that were provisioned for one claim, the one that lost is Released',
    claims: [{ name: 'c', on: 'x', isComplete: true, phase: 'Bound' }],
    volumes: [
      { ...orphan, uid: 'own', ...madeByCsi },
      { name: 'x', for: 'c', uid: 'own', phase: 'Bound', ...madeByCsi },
    ],
    end: ['c: Bound on x, complete', 'v: Released for c', 'x: Bound for c'],
  },
  {
    name: 'a failed volume stays Failed and gets no further Events',
    volumes: [{ ...orphan, ...hostPath, phase: 'Failed' }],
    end: ['v: Failed for c (other uid)'],
  },
];

test.each(byName([...phaseCases, ...reclaimCases]))('%s', async (_, { end, events = [], ...found }) => {
  const outcome = await runBinder(found);
  expect([...outcome.claims, ...outcome.volumes]).toEqual(end);
  expect(outcome.events).toEqual(events);
});
