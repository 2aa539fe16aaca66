import { expect, test } from 'vitest';
import type {
  ClaimResourceStatus,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSource,
} from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { decideExpansion, type ExpansionStep } from './decide-expansion.ts';

interface Case {
  readonly what: string;
  readonly requested?: string;
  readonly current?: string;
  readonly volume?: string;
  readonly allocated?: string;
  readonly state?: ClaimResourceStatus;
  readonly source?: PersistentVolumeSource;
  readonly preResize?: string;
  readonly claimRefUid?: string;
  readonly hasResizer?: boolean;
  readonly hasFailed?: boolean;
  readonly isNodeOnly?: boolean;
  readonly expected: string;
}

function claimOf({ requested = '2Gi', current = '1Gi', allocated, state }: Case): PersistentVolumeClaim {
  return {
    metadata: { namespace: 'default', name: 'data', uid: 'u' },
    spec: { volumeName: 'v', resources: { requests: { storage: requested } } },
    status: {
      phase: 'Bound',
      capacity: { storage: current },
      ...(allocated === undefined ? {} : { allocatedResources: { storage: allocated } }),
      ...(state === undefined ? {} : { allocatedResourceStatuses: { storage: state } }),
    },
  };
}

function volumeOf({ volume = '1Gi', source = {}, preResize, claimRefUid = 'u' }: Case): PersistentVolume {
  const marks = preResize === undefined ? {} : { [annotations.preResizeCapacity]: preResize };
  return {
    metadata: { name: 'v', annotations: marks },
    spec: { capacity: { storage: volume }, claimRef: { uid: claimRefUid }, ...source },
  };
}

function summarize(step: ExpansionStep): string {
  if (step.kind === 'external') return `external: ${step.note}`;
  return 'size' in step ? `${step.kind} to ${step.size}` : step.kind;
}

const cases: readonly Case[] = [
  { what: 'that has what it requests', requested: '1Gi', expected: 'nothing' },
  { what: 'that has more than it requests', requested: '1Gi', current: '2Gi', expected: 'nothing' },
  { what: 'that requests more', expected: 'expand to 2Gi' },
  { what: 'whose volume belongs to another claim', claimRefUid: 'x', expected: 'nothing' },
  {
    what: 'that a CSI driver handles',
    hasResizer: false,
    expected: 'external: waiting for an external controller to expand this PVC',
  },
  {
    what: 'of a plugin that was migrated to a CSI driver',
    hasResizer: false,
    source: { gcePersistentDisk: { pdName: 'd' } },
    expected:
      'external: CSI migration enabled for kubernetes.io/gce-pd; waiting for external resizer to expand the pvc',
  },
  {
    what: 'that grew before',
    allocated: '1Gi',
    expected: 'expand to 2Gi',
  },
  {
    what: 'that requests still more during an expansion',
    requested: '3Gi',
    allocated: '2Gi',
    state: 'ControllerResizeInProgress',
    expected: 'expand to 2Gi',
  },
  {
    what: 'that requests less during an expansion',
    requested: '2Gi',
    allocated: '9Gi',
    state: 'ControllerResizeInProgress',
    expected: 'expand to 9Gi',
  },
  {
    what: 'that requests less after its size was infeasible',
    requested: '2Gi',
    allocated: '9Gi',
    state: 'ControllerResizeInfeasible',
    expected: 'expand to 2Gi',
  },
  {
    what: 'that still requests an infeasible size',
    requested: '9Gi',
    allocated: '9Gi',
    state: 'ControllerResizeInfeasible',
    expected: 'retry-later to 9Gi',
  },
  {
    what: 'whose volume has grown, but whose status does not show it',
    volume: '2Gi',
    allocated: '2Gi',
    state: 'ControllerResizeInProgress',
    expected: 'expand to 2Gi',
  },
  {
    what: 'that waits for its node',
    volume: '2Gi',
    allocated: '2Gi',
    state: 'NodeResizePending',
    expected: 'nothing',
  },
  {
    what: 'that requests more while it waits for its node',
    requested: '3Gi',
    volume: '2Gi',
    allocated: '2Gi',
    state: 'NodeResizePending',
    expected: 'nothing',
  },
  {
    what: 'whose node failed',
    volume: '2Gi',
    allocated: '2Gi',
    state: 'NodeResizeInfeasible',
    expected: 'expand to 2Gi',
  },
  {
    what: 'that requests less after its node failed',
    requested: '2Gi',
    volume: '3Gi',
    allocated: '3Gi',
    state: 'NodeResizeInfeasible',
    expected: 'expand to 3Gi',
  },
  {
    what: 'that requests less after its node failed, where only nodes act',
    requested: '2Gi',
    volume: '3Gi',
    allocated: '3Gi',
    state: 'NodeResizeInfeasible',
    isNodeOnly: true,
    expected: 'expand to 2Gi',
  },
  {
    what: 'that requests less after an attempt without effect',
    requested: '2Gi',
    allocated: '9Gi',
    state: 'ControllerResizeInProgress',
    hasFailed: true,
    expected: 'expand to 2Gi',
  },
  {
    what: 'whose node has finished',
    current: '2Gi',
    volume: '2Gi',
    allocated: '2Gi',
    preResize: '1Gi',
    expected: 'forget-old-size',
  },
  {
    what: 'whose node has not finished',
    volume: '2Gi',
    allocated: '2Gi',
    state: 'NodeResizePending',
    preResize: '1Gi',
    expected: 'nothing',
  },
];

test.each(cases)('a claim $what: $expected', (given) => {
  const step = decideExpansion(claimOf(given), volumeOf(given), {
    hasResizer: true,
    ...given,
  });
  expect(summarize(step)).toBe(given.expected);
});
