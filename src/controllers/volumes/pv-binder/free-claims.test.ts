import { expect, test } from 'vitest';
import { byName } from '../../../engine/testing/objects.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { annotations } from '../../../kube/well-known.ts';
import { runBinder } from './testing/binder-outcome.ts';
import type { InitialObjects } from './testing/initial-objects.ts';

/* Claims that accept any volume; the sets 1 and 13 of kube-controller-manager's TestSync. */

const waits: StorageClass = {
  metadata: { name: 'wait' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};
const labels = { foo: 'true', bar: 'false' };
const nothing = 'FailedBinding c: no persistent volumes available for this claim and no storage class is set';
const firstConsumer = 'WaitForFirstConsumer c: waiting for first consumer to be created before binding';
const bound = 'c: Bound on v (1Gi), by controller, complete';

interface Case extends InitialObjects {
  readonly name: string;
  readonly end: readonly string[];
  readonly events?: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'a claim gets a volume that fits',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v' }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: 'a claim waits if no volume is large enough',
    claims: [{ name: 'c', size: '10Gi' }],
    volumes: [{ name: 'v' }],
    end: ['c: Pending', 'v: Available'],
    events: [nothing],
  },
  {
    name: 'a claim in phase Bound without a volume is set back to Pending',
    claims: [{ name: 'c', size: '10Gi', phase: 'Bound' }],
    volumes: [{ name: 'v' }],
    end: ['c: Pending', 'v: Available'],
    events: [nothing],
  },
  {
    name: 'the smallest volume that fits is taken',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'a', size: '10Gi' }, { name: 'v' }],
    end: [bound, 'a: Available', 'v: Bound for c, by controller'],
  },
  {
    name: 'a volume that names the claim is preferred to a smaller one',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'a', size: '10Gi', for: 'c' }, { name: 'v' }],
    end: ['c: Bound on a (10Gi), by controller, complete', 'a: Bound for c', 'v: Available'],
  },
  {
    name: 'a volume that names the claim with its uid is preferred to a smaller one',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'a', size: '10Gi', for: 'c', uid: 'own' }, { name: 'v' }],
    end: ['c: Bound on a (10Gi), by controller, complete', 'a: Bound for c', 'v: Available'],
  },
  {
    name: 'a volume of an earlier claim of the name is not taken, and its phase shows that',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', size: '10Gi', for: 'c', uid: 'other' }],
    end: ['c: Pending', 'v: Released for c (other uid)'],
    events: [nothing],
  },
  {
    name: 'a binding that stopped after the claimRef is completed',
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', byController: true }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: "a binding that stopped after the volume's phase is completed",
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', byController: true, phase: 'Bound' }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: 'a binding that stopped after the claim named its volume is completed',
    claims: [{ name: 'c', on: 'v', byController: true, isComplete: true }],
    volumes: [{ name: 'v', for: 'c', uid: 'own', byController: true, phase: 'Bound' }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: 'a volume that matches the selector is taken',
    claims: [{ name: 'c', selector: labels }],
    volumes: [{ name: 'v', labels }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: 'a volume that does not match the selector is not taken',
    claims: [{ name: 'c', selector: labels }],
    volumes: [{ name: 'v' }],
    end: ['c: Pending', 'v: Available'],
    events: [nothing],
  },
  {
    name: 'a claim of a WaitForFirstConsumer class takes nothing by itself',
    classes: [waits],
    claims: [{ name: 'c', className: 'wait' }],
    volumes: [{ name: 'v', className: 'wait' }],
    end: ['c: Pending', 'v: Available'],
    events: [firstConsumer],
  },
  {
    name: 'a claim of a WaitForFirstConsumer class takes a volume that names it',
    classes: [waits],
    claims: [{ name: 'c', className: 'wait' }],
    volumes: [{ name: 'v', className: 'wait', for: 'c' }],
    end: [bound, 'v: Bound for c'],
  },
  {
    name: 'a claim of a WaitForFirstConsumer class takes the volume that was created for it on the selected node',
    classes: [waits],
    claims: [{ name: 'c', className: 'wait', extraAnnotations: { [annotations.selectedNode]: 'n1' } }],
    volumes: [{ name: 'v', className: 'wait', for: 'c', uid: 'own' }],
    end: [bound, 'v: Bound for c'],
  },
  {
    name: 'volumes in phase Pending, Failed or Released without a claim become Available',
    volumes: [
      { name: 'a', phase: 'Failed' },
      { name: 'b', phase: 'Released' },
      { name: 'v', phase: 'Pending' },
    ],
    end: ['a: Available', 'b: Available', 'v: Available'],
  },
  {
    name: 'the class takes precedence over the size',
    claims: [{ name: 'c', className: 'gold' }],
    volumes: [{ name: 'a' }, { name: 'v', size: '10Gi', className: 'gold' }],
    end: ['c: Bound on v (10Gi), by controller, complete', 'a: Available', 'v: Bound for c, by controller'],
  },
  {
    name: 'a claim without a class takes no volume of a class',
    claims: [{ name: 'c' }],
    volumes: [
      { name: 'a', className: 'gold' },
      { name: 'v', size: '10Gi' },
    ],
    end: ['c: Bound on v (10Gi), by controller, complete', 'a: Available', 'v: Bound for c, by controller'],
  },
  {
    name: 'a claim of a class takes no volume of another class',
    claims: [{ name: 'c', className: 'gold' }],
    volumes: [
      { name: 'a', className: 'silver' },
      { name: 'v', size: '10Gi', className: 'gold' },
    ],
    end: ['c: Bound on v (10Gi), by controller, complete', 'a: Available', 'v: Bound for c, by controller'],
  },
  {
    name: 'a claim that requests no class takes a volume without one',
    claims: [{ name: 'c', className: '' }],
    volumes: [{ name: 'v' }],
    end: [bound, 'v: Bound for c, by controller'],
  },
  {
    name: 'a volume that offers more access modes is taken only if no other fits',
    claims: [{ name: 'c' }],
    volumes: [
      { name: 'a', accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] },
      { name: 'v', size: '10Gi' },
    ],
    end: ['c: Bound on v (10Gi), by controller, complete', 'a: Available', 'v: Bound for c, by controller'],
  },
];

test.each(byName(cases))('%s', async (_, { end, events = [], ...found }) => {
  const outcome = await runBinder(found);
  expect([...outcome.claims, ...outcome.volumes]).toEqual(end);
  expect(outcome.events).toEqual(events);
});
