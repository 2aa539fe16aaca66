import type { PoolForm } from '../records/pool-record.ts';

/**
 * The deliberate differences from kube-scheduler, each as a switch. Profile `stowage` has Stowage's behaviour; profile `upstream`
 * gives the verdicts and messages of the pinned kube-scheduler (v1.36, default gates). `docs/decisions` explains each difference.
 */
export interface Profile {
  /** A display name. No decision depends on it. */
  readonly name: string;
  /** Evaluate matchFields in a PV's node affinity. kube-scheduler treats them as always true. */
  readonly honourMatchFields: boolean;
  /** `exact`: finds an assignment of volumes to claims whenever one exists. `ascending`: smallest claim first, without backtracking. */
  readonly assignment: 'exact' | 'ascending';
  /** A PV whose claimRef names the claim belongs to the claim, whatever its class. While that PV exists, the claim can use no other. */
  readonly preboundIsFinal: boolean;
  /** Check the pool again for a claim that already has a selected node. The claim's own volume may be what fills the pool. */
  readonly retestSelectedNode: boolean;
  /** Reserve capacity for inline CSI volumes that state a size. */
  readonly checkInlineVolumes: boolean;
  /** Count the volumes that the plan would actually use against attach limits. kube-scheduler counts the class's provisioner. */
  readonly limitChosenVolumes: boolean;
  /** A volume that has a VolumeAttachment uses no second slot on that node. kube-scheduler counts it again unless a pod on the node uses it. */
  readonly trustAttachments: boolean;
  /** Ignore zone labels of a PV that has node affinity. */
  readonly affinityReplacesZones: boolean;
  /** Check the zones of generic ephemeral volumes too. */
  readonly zonesOfEphemeral: boolean;
  /** Treat the parameters `zone` and `zones` of classes of zonal provisioners as allowed topologies. */
  readonly honourZoneParameters: boolean;
  /** Honour CSIDriver.spec.preventPodSchedulingIfMissing, which is off by default in Kubernetes 1.36. */
  readonly requireInstalledDriver: boolean;
  /** Check a pod's unbound claims also on nodes that its bound volumes rule out, and report both reasons, as kube-scheduler does. */
  readonly reportsEveryObstacle: boolean;
  /** A bound claim whose volume is missing refuses the pod before any node is checked, with the message of the zone rule. */
  readonly zonesNeedVolumes: boolean;
  /** A selected-node annotation without a value restricts the claim to a node with an empty name. */
  readonly emptySelectedNodePins: boolean;
  /**
   * Add to the preemption message what kube-scheduler's DynamicResources plugin reports. The plugin fails if the pod was refused before
   * any node was checked; kube-scheduler then considers no evictions.
   */
  readonly mentionsDynamicResources: boolean;
  /**
   * Write both sides of a binding once all of a pod's volumes are claimed, and don't wait for a claim whose new volume exists.
   * kube-scheduler writes only the volume's side, and waits for the PV controller to write the other.
   */
  readonly completesBindings: boolean;
  /** Name in refusals the volume or pool that came closest to fitting. */
  readonly namesClosestCandidate: boolean;
  /** Honour the annotations of claims, namespaces and classes that keep drives free for growth, and volumes of one owner apart. */
  readonly honoursVolumePolicies: boolean;
  /** Stop using the capacity reports of a publisher of ours that no longer renews its Lease. kube-scheduler uses a report until its object is deleted. */
  readonly honoursHeartbeats: boolean;
  /** Score nodes by the preferred node affinity of volumes. */
  readonly scoresPreferences: boolean;
  /** How claims in flight are deducted, for drivers that `inFlightOf` doesn't name. */
  readonly inFlight: InFlightPolicy;
  readonly inFlightOf: Readonly<Record<string, InFlightPolicy>>;
  /** The kinds of objects that publish pools. For a driver that publishes several, the first in this list counts, never the sum. */
  readonly poolForms: readonly PoolForm[];
  readonly scoring: VolumeScoring;
  /** A settled promise expires after this time without an update of its pool, because the reports of some drivers never change. */
  readonly settledPromiseMaxMs: number;
}

/**
 * `linear`: every promised byte is deducted. `one-at-a-time`: a pool with a promise counts as full until its object is updated, for
 * drivers where subtraction gives wrong results. `off`: promises and other claims of the pod are ignored, as in kube-scheduler.
 */
export type InFlightPolicy = 'linear' | 'one-at-a-time' | 'off';

/** `stowage`: tight fit, static before dynamic. `none`: Kubernetes 1.36. `utilization`: Kubernetes 1.37's default gate. */
export interface VolumeScoring {
  readonly method: 'stowage' | 'none' | 'utilization';
  /** Under `stowage` for pre-provisioned volumes, where 100 % is an exact fit; under `utilization` for all volumes. */
  readonly volumeShape: UtilizationShape;
  /** For pools: the score by the pool's utilization after the pod. */
  readonly poolShape: UtilizationShape;
}

/** Points of (utilization in percent, score from 0 to 10), strictly increasing in utilization, with linear interpolation between them. */
export type UtilizationShape = readonly UtilizationShapePoint[];

export interface UtilizationShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** Prefer high utilization. */
export const packShape: UtilizationShape = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];

/** Prefer low utilization. */
export const spreadShape: UtilizationShape = [
  { utilization: 0, score: 10 },
  { utilization: 100, score: 0 },
];

export const stowageProfile: Profile = {
  name: 'stowage',
  honourMatchFields: true,
  assignment: 'exact',
  preboundIsFinal: true,
  retestSelectedNode: false,
  checkInlineVolumes: true,
  limitChosenVolumes: true,
  trustAttachments: true,
  affinityReplacesZones: true,
  zonesOfEphemeral: true,
  honourZoneParameters: true,
  requireInstalledDriver: true,
  reportsEveryObstacle: false,
  zonesNeedVolumes: false,
  emptySelectedNodePins: false,
  mentionsDynamicResources: false,
  completesBindings: true,
  namesClosestCandidate: true,
  honoursVolumePolicies: true,
  honoursHeartbeats: true,
  scoresPreferences: true,
  inFlight: 'linear',
  inFlightOf: {},
  poolForms: ['Drive', 'DriverCapacity', 'CSIStorageCapacity'],
  scoring: { method: 'stowage', volumeShape: packShape, poolShape: spreadShape },
  settledPromiseMaxMs: 120_000,
};

export const upstreamProfile: Profile = {
  name: 'upstream',
  honourMatchFields: false,
  assignment: 'ascending',
  preboundIsFinal: false,
  retestSelectedNode: true,
  checkInlineVolumes: false,
  limitChosenVolumes: false,
  trustAttachments: false,
  affinityReplacesZones: false,
  zonesOfEphemeral: false,
  honourZoneParameters: false,
  requireInstalledDriver: false,
  reportsEveryObstacle: true,
  zonesNeedVolumes: true,
  emptySelectedNodePins: true,
  mentionsDynamicResources: true,
  completesBindings: false,
  namesClosestCandidate: false,
  honoursVolumePolicies: false,
  honoursHeartbeats: false,
  scoresPreferences: false,
  inFlight: 'off',
  inFlightOf: {},
  poolForms: ['CSIStorageCapacity'],
  scoring: { method: 'none', volumeShape: spreadShape, poolShape: spreadShape },
  settledPromiseMaxMs: 120_000,
};

export function inFlightPolicy(profile: Profile, driver: string): InFlightPolicy {
  return Object.hasOwn(profile.inFlightOf, driver) ? profile.inFlightOf[driver]! : profile.inFlight;
}

/** The problems of a custom profile. Each names the field and the valid values. */
export function profileProblems(profile: Profile): string[] {
  const { scoring, settledPromiseMaxMs, inFlightOf } = profile;
  const problems = [
    ...choiceProblems('assignment', profile.assignment, ['exact', 'ascending']),
    ...choiceProblems('inFlight', profile.inFlight, inFlightPolicies),
    ...Object.entries(inFlightOf).flatMap(([driver, policy]) =>
      choiceProblems(`inFlightOf[${driver}]`, policy, inFlightPolicies),
    ),
    ...profile.poolForms.flatMap((form) =>
      choiceProblems('poolForms', form, ['Drive', 'DriverCapacity', 'CSIStorageCapacity']),
    ),
    ...choiceProblems('scoring.method', scoring.method, ['stowage', 'none', 'utilization']),
    ...shapeProblems(scoring.volumeShape, 'scoring.volumeShape'),
    ...shapeProblems(scoring.poolShape, 'scoring.poolShape'),
  ];
  return settledPromiseMaxMs >= 0 ? problems : [...problems, 'settledPromiseMaxMs: must be zero or more'];
}

const inFlightPolicies = ['linear', 'one-at-a-time', 'off'];

function choiceProblems(field: string, value: string, choices: readonly string[]): string[] {
  return choices.includes(value) ? [] : [`${field}: "${value}" must be one of ${choices.join(', ')}`];
}

function shapeProblems(shape: UtilizationShape, field: string): string[] {
  const problems: string[] = [];
  if (shape.length === 0) problems.push(`${field}: must have at least one point`);
  for (const [position, { utilization, score }] of shape.entries()) {
    const at = `${field}[${position}]`;
    if (!(utilization >= 0 && utilization <= 100)) problems.push(`${at}.utilization: must be from 0 to 100`);
    if (!(score >= 0 && score <= 10)) problems.push(`${at}.score: must be from 0 to 10`);
    if (position > 0 && utilization <= shape[position - 1]!.utilization) {
      problems.push(`${at}.utilization: must be greater than that of the previous point`);
    }
  }
  return problems;
}
