import type { ClaimRecord } from '../records/claim-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { NodeReason } from '../rules/reasons.ts';
import { nodeAffinitySteps, taintSteps, uncordon } from './node-steps.ts';
import { dropAffinity, podSteps, raiseMaxSkew } from './pod-steps.ts';
import { growPools } from './pool-steps.ts';
import type { Step } from './remedy-step.ts';
import { resourceSteps } from './resource-steps.ts';
import {
  allowTopology,
  createVolume,
  freeVolumes,
  installDriver,
  shrinkClaim,
  unpinClaim,
  wantedClaim,
  wantedClaims,
} from './volume-steps.ts';
import type { Trial } from './what-if.ts';

/** Changes that could do away with one finding on one node. */
export function optionsFor(trial: Trial, finding: Finding): Step[] {
  return generators[finding.reason]?.(trial, finding) ?? [];
}

/** Whether there is nothing that we know to change about it. */
export function isHopeless({ reason }: Finding): boolean {
  return generators[reason] === undefined;
}

/** Whether removing pods may be what helps; such findings are looked at last, when nothing else is left. */
export function isAboutPods({ reason }: Finding): boolean {
  return aboutPods.has(reason);
}

type Generator = (trial: Trial, finding: Finding) => Step[];

const resources: Generator = (trial, finding) => [
  ...resourceSteps(trial, finding),
  ...podSteps(trial, finding),
];

/** New volumes are made elsewhere than existing ones are found, so that either may help where a class does both. */
const volumes: Generator = (trial, finding) => {
  const claim = wantedClaim(trial, finding);
  return volumeSteps(trial, finding, claim === undefined ? [] : [claim]);
};

const volumesTogether: Generator = (trial, finding) => volumeSteps(trial, finding, wantedClaims(trial));

function volumeSteps(trial: Trial, finding: Finding, claims: readonly ClaimRecord[]): Step[] {
  return [
    ...claims.flatMap((claim) => createVolume(trial, claim)),
    ...freeVolumes(trial, finding),
    ...growPools(trial, finding),
    ...claims.flatMap((claim) => shrinkClaim(trial, claim)),
  ];
}

const generators: { readonly [Reason in NodeReason]?: Generator } = {
  MarkedUnschedulable: uncordon,
  TaintNotTolerated: taintSteps,
  NodeAffinityMismatch: nodeAffinitySteps,
  TooManyPods: resources,
  InsufficientCpu: resources,
  InsufficientMemory: resources,
  InsufficientEphemeralStorage: resources,
  InsufficientResource: resources,
  PortsTaken: podSteps,
  DiskInUse: podSteps,
  ClaimInUse: podSteps,
  AttachLimitReached: podSteps,
  DriverNotInstalled: installDriver,
  NoVolumeFits: volumes,
  VolumesNotTogether: volumesTogether,
  NotEnoughCapacity: volumes,
  CapacityNotTogether: volumesTogether,
  ClaimPinnedElsewhere: (trial, finding) => {
    const claim = wantedClaim(trial, finding);
    return claim === undefined ? [] : unpinClaim(trial, claim);
  },
  TopologyNotAllowed: (trial, finding) => {
    const claim = wantedClaim(trial, finding);
    return claim === undefined ? [] : [...createVolume(trial, claim), ...allowTopology(trial, claim)];
  },
  AffinityNotMet: (trial) => dropAffinity(trial, 'podAffinity'),
  AntiAffinityNotMet: (trial, finding) => [
    ...dropAffinity(trial, 'podAntiAffinity'),
    ...podSteps(trial, finding),
  ],
  RefusedByNeighbours: podSteps,
  SpreadExceeded: (trial, finding) => [...raiseMaxSkew(trial, finding), ...podSteps(trial, finding)],
};

const aboutPods: ReadonlySet<NodeReason> = new Set<NodeReason>([
  'TooManyPods',
  'InsufficientCpu',
  'InsufficientMemory',
  'InsufficientEphemeralStorage',
  'InsufficientResource',
  'PortsTaken',
  'DiskInUse',
  'ClaimInUse',
  'AttachLimitReached',
  'AntiAffinityNotMet',
  'RefusedByNeighbours',
  'SpreadExceeded',
]);
