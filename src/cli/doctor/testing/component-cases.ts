import { annotations } from '../../../kube/well-known.ts';
import { at, condition, type DoctorCase, factsOf, leaseOf, nowMs } from './cluster-facts.ts';

const minutesMs = 60_000;

/** A pod of Stowage that has been ready for so long. */
const readyPod = (
  name: string,
  args: readonly string[],
  { component = 'other', ageMs = 10 * minutesMs } = {},
) => ({
  metadata: { namespace: 'kube-system', name, labels: { 'app.kubernetes.io/component': component } },
  spec: { containers: [{ name: 'stowage', args }] },
  status: { conditions: [{ ...condition('Ready', 'True'), lastTransitionTime: at(nowMs - ageMs) }] },
});

/** Problems of Stowage's own components. */
export const componentCases: readonly DoctorCase[] = [
  {
    name: 'a leader that is gone, and one that was stopped',
    facts: factsOf({
      leases: [
        leaseOf('stowage-disks', { agoMs: 60_000 }),
        leaseOf('stowage-capacity', { holder: '', agoMs: 60_000 }),
        leaseOf('stowage-drives'),
        leaseOf('kube-controller-manager', { agoMs: 60_000 }),
      ],
    }),
    finds: ['error LeaderGone stowage-disks', 'warning NoLeader stowage-capacity'],
  },
  {
    name: 'ready pods whose Leases do not exist',
    facts: factsOf({
      ownPods: [
        readyPod('stowage-1', ['run', '--config=/etc/stowage/stowage.yaml'], { component: 'scheduler' }),
        readyPod('disks-1', ['run', '--controllers=disks,provisioner', '--lease-suffix=disks']),
        readyPod('disks-2', ['run', '--controllers', 'disks,provisioner', '--lease-suffix', 'disks']),
        readyPod('drives-1', ['csi', '--services=controller', '--endpoint=unix:///csi/csi.sock']),
        readyPod('attacher-1', ['stowage', 'run', '--controllers=attacher', '--config=/etc/stowage.yaml']),
      ],
      leases: [
        leaseOf('stowage-provisioner-disks'),
        leaseOf('stowage-disks'),
        leaseOf('stowage-attacher-csi'),
      ],
    }),
    finds: [
      'error LeaseMissing stowage-scheduler',
      'error LeaseMissing stowage-disks-disks',
      'error LeaseMissing stowage-drives',
    ],
  },
  {
    name: 'ready pods that need no Lease, or could not have one yet',
    facts: factsOf({
      ownPods: [
        readyPod('console-1', ['run', '--controllers=none', '--console']),
        readyPod('agent-1', ['run', '--controllers=disk-agent', '--leader-elect=false']),
        readyPod('other-agent-1', ['run', '--controllers=disk-agent']),
        readyPod('node-1', ['csi', '--services=node', '--endpoint=unix:///csi/csi.sock']),
        readyPod('csi-1', ['run', '--controllers=provisioner,capacity', '--node-deployment']),
        readyPod('other-1', ['run', '--config=/etc/stowage/stowage.yaml']),
        readyPod('extender-1', ['extender', '--listen=:8900']),
        readyPod('all-1', ['run', '--controllers=*,-scheduler']),
        readyPod('new-1', ['run'], { ageMs: 5_000 }),
      ],
    }),
    finds: [],
  },
  {
    name: 'components of other versions and gates',
    facts: factsOf({
      leases: [
        leaseOf('stowage-a', {
          marks: { [annotations.version]: '1.0.0', [annotations.featureGates]: 'G=true' },
        }),
        leaseOf('stowage-b', {
          marks: { [annotations.version]: '0.9.0', [annotations.featureGates]: 'G=false' },
        }),
      ],
    }),
    finds: ['warning ComponentGatesDiffer stowage-b', 'info ComponentVersionsDiffer stowage-b'],
  },
  {
    name: 'pods of components that do not run',
    facts: factsOf({
      ownPods: [
        {
          metadata: { name: 'loops' },
          status: { containerStatuses: [{ name: 'c', state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
        },
        { metadata: { name: 'restarts' }, status: { containerStatuses: [{ name: 'c', restartCount: 9 }] } },
        {
          metadata: { name: 'old', creationTimestamp: at(nowMs - 10 * minutesMs) },
          status: { phase: 'Running' },
        },
        { metadata: { name: 'new', creationTimestamp: at(nowMs - 5_000) }, status: { phase: 'Pending' } },
        { metadata: { name: 'fine' }, status: { conditions: [condition('Ready', 'True')] } },
      ],
    }),
    finds: [
      'error ComponentNotReady loops',
      'error ComponentNotReady restarts',
      'error ComponentNotReady old',
    ],
  },
];
