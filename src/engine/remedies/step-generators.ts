import type { ClaimRecord } from '../records/claim-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { NodeReason } from '../rules/reasons.ts';
import { addDriveSteps, startNodeServiceSteps } from './drive-steps.ts';
import { nodeAffinitySteps, taintSteps, uncordonSteps } from './node-steps.ts';
import { dropAffinitySteps, podSteps, raiseMaxSkewSteps } from './pod-steps.ts';
import { growPoolSteps, uncordonDriveSteps } from './pool-steps.ts';
import type { RemedyStep } from './remedy-step.ts';
import { resourceSteps } from './resource-steps.ts';
import {
  allowTopologySteps,
  clearClaimRefSteps,
  createVolumeSteps,
  installDriverSteps,
  shrinkClaimSteps,
  unpinClaimSteps,
  wantedClaim,
  wantedClaims,
} from './volume-steps.ts';
import type { WhatIf } from './what-if.ts';

/** Steps that could resolve one finding on one node. */
export function stepsFor(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  return generators[finding.reason]?.(whatIf, finding) ?? [];
}

/** Whether no known step resolves the finding. */
export function hasNoRemedy({ reason }: Finding): boolean {
  return generators[reason] === undefined;
}

/** Whether removing pods may help. The search handles such findings last. */
export function isCausedByPods({ reason }: Finding): boolean {
  return causedByPods.has(reason);
}

type Generator = (whatIf: WhatIf, finding: Finding) => RemedyStep[];

const resources: Generator = (whatIf, finding) => [
  ...resourceSteps(whatIf, finding),
  ...podSteps(whatIf, finding),
];

/** A class may have both existing volumes and a provisioner, so either kind of step may help. */
const volumes: Generator = (whatIf, finding) => {
  const claim = wantedClaim(whatIf, finding);
  return volumeSteps(whatIf, finding, claim === undefined ? [] : [claim]);
};

const volumesTogether: Generator = (whatIf, finding) => volumeSteps(whatIf, finding, wantedClaims(whatIf));

function volumeSteps(whatIf: WhatIf, finding: Finding, claims: readonly ClaimRecord[]): RemedyStep[] {
  return [
    ...claims.flatMap((claim) => createVolumeSteps(whatIf, claim)),
    ...clearClaimRefSteps(whatIf, finding),
    ...growPoolSteps(whatIf, finding),
    ...addDriveSteps(whatIf, finding),
    ...startNodeServiceSteps(whatIf, finding),
    ...uncordonDriveSteps(whatIf, finding),
    ...claims.flatMap((claim) => shrinkClaimSteps(whatIf, claim)),
  ];
}

const generators: { readonly [Reason in NodeReason]?: Generator } = {
  MarkedUnschedulable: uncordonSteps,
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
  DriverNotInstalled: installDriverSteps,
  NoVolumeFits: volumes,
  VolumesNotTogether: volumesTogether,
  NotEnoughCapacity: volumes,
  NoDriveAdded: addDriveSteps,
  NoDriveOfKind: addDriveSteps,
  CapacityNotTogether: volumesTogether,
  TooFewDrivesToSpread: volumesTogether,
  ClaimPinnedElsewhere: (whatIf, finding) => {
    const claim = wantedClaim(whatIf, finding);
    return claim === undefined ? [] : unpinClaimSteps(whatIf, claim);
  },
  TopologyNotAllowed: (whatIf, finding) => {
    const claim = wantedClaim(whatIf, finding);
    return claim === undefined
      ? []
      : [...createVolumeSteps(whatIf, claim), ...allowTopologySteps(whatIf, claim)];
  },
  AffinityNotMet: (whatIf) => dropAffinitySteps(whatIf, 'podAffinity'),
  AntiAffinityNotMet: (whatIf, finding) => [
    ...dropAffinitySteps(whatIf, 'podAntiAffinity'),
    ...podSteps(whatIf, finding),
  ],
  RefusedByNeighbours: podSteps,
  SpreadExceeded: (whatIf, finding) => [...raiseMaxSkewSteps(whatIf, finding), ...podSteps(whatIf, finding)],
};

const causedByPods: ReadonlySet<NodeReason> = new Set<NodeReason>([
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
