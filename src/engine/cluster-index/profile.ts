/**
 * Where Stowage knows better than kube-scheduler, each as a switch. Profile `stowage` has them all on; profile `upstream`
 * gives the verdicts and messages of the pinned kube-scheduler (v1.36, default gates). `docs/decisions` has the reasons.
 */
export interface Profile {
  /** What people call it; nothing is decided by it. */
  readonly name: string;
  /** Evaluate matchFields in a PV's node affinity; kube-scheduler takes them as always true. */
  readonly honourMatchFields: boolean;
  /** `exact`: finds an assignment of volumes to claims wherever one exists. `ascending`: smallest claim first, no way back. */
  readonly assignment: 'exact' | 'ascending';
  /** A PV whose claimRef names the claim is the claim's, whatever its class; and while it exists no other will do. */
  readonly preboundIsFinal: boolean;
  /** Ask again for room where the claim already has a selected node; its own volume may be what fills the pool. */
  readonly retestSelectedNode: boolean;
  /** Reserve room for inline CSI volumes that state a size. */
  readonly checkInlineVolumes: boolean;
  /** Count the volumes that the plan would really use against attach limits, rather than the class's provisioner. */
  readonly limitChosenVolumes: boolean;
  /** A volume that has a VolumeAttachment takes no second slot on that node; kube-scheduler counts it again unless a pod there has it. */
  readonly trustAttachments: boolean;
  /** Ignore zone labels of a PV that has node affinity. */
  readonly affinityReplacesZones: boolean;
  /** Look at the zones of generic ephemeral volumes too. */
  readonly zonesOfEphemeral: boolean;
  /** CSIDriver.spec.preventPodSchedulingIfMissing; off by default in Kubernetes 1.36. */
  readonly requireInstalledDriver: boolean;
  /** Look at a pod's wanted volumes also on nodes that its bound ones rule out, and report both; kube-scheduler does. */
  readonly reportsEveryObstacle: boolean;
  /** A bound claim without its volume refuses the pod before any node is looked at, in the zone rule's words. */
  readonly zonesNeedVolumes: boolean;
  /** A selected-node annotation without a value pins the claim to a node of no name. */
  readonly emptySelectedNodePins: boolean;
  /**
   * Before anybody is evicted, say of devices what kube-scheduler's rule for dynamic resources says. It loses its way where the pod was
   * refused before any node was looked at; evictions are then not thought of.
   */
  readonly mentionsDynamicResources: boolean;
  /**
   * Write both sides of a binding, not only the volume's, once all of a pod's volumes are claimed, and wait for no claim whose new volume is
   * there; kube-scheduler leaves one side to the PV controller, and waits for it.
   */
  readonly completesBindings: boolean;
  /** Say in refusals which volume or pool came closest. */
  readonly namesClosestCandidate: boolean;
  /** Rank nodes by the soft affinity of volumes. */
  readonly scoresPreferences: boolean;
  /** What is deducted for claims in flight, for drivers that `inFlightOf` doesn't name. */
  readonly inFlight: InFlightPolicy;
  readonly inFlightOf: Readonly<Record<string, InFlightPolicy>>;
  /** The forms of pools that count; for a driver that publishes several, the first of these, never the sum. */
  readonly poolForms: readonly ('DriverCapacity' | 'CSIStorageCapacity')[];
  readonly scoring: VolumeScoring;
  /** A settled promise is given up after this long without an update of its pool: some drivers' numbers never move. */
  readonly settledPromiseMaxMs: number;
}

/**
 * `linear`: every promised byte is gone. `one-at-a-time`: a pool with a promise counts as full until it is updated, for
 * drivers whose insides make subtraction wrong. `off`: promises and sibling claims are not looked at, as in kube-scheduler.
 */
export type InFlightPolicy = 'linear' | 'one-at-a-time' | 'off';

/** `stowage`: tight fit, static before dynamic. `none`: Kubernetes 1.36. `utilization`: Kubernetes 1.37's default gate. */
export interface VolumeScoring {
  readonly method: 'stowage' | 'none' | 'utilization';
  /** For pre-provisioned volumes under `stowage`, where full is a tight fit; for everything under `utilization`. */
  readonly volumeShape: UtilizationShape;
  /** For pools: how good a pool is by how full the pod would make it. */
  readonly poolShape: UtilizationShape;
}

/** Points of (utilization in percent, score from 0 to 10), strictly rising in utilization; straight lines between. */
export type UtilizationShape = readonly UtilizationShapePoint[];

export interface UtilizationShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** Prefer what the pod fills best. */
export const packShape: UtilizationShape = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];

/** Prefer what has most left. */
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
  requireInstalledDriver: true,
  reportsEveryObstacle: false,
  zonesNeedVolumes: false,
  emptySelectedNodePins: false,
  mentionsDynamicResources: false,
  completesBindings: true,
  namesClosestCandidate: true,
  scoresPreferences: true,
  inFlight: 'linear',
  inFlightOf: {},
  poolForms: ['DriverCapacity', 'CSIStorageCapacity'],
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
  requireInstalledDriver: false,
  reportsEveryObstacle: true,
  zonesNeedVolumes: true,
  emptySelectedNodePins: true,
  mentionsDynamicResources: true,
  completesBindings: false,
  namesClosestCandidate: false,
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

/** What is wrong with a profile that somebody has put together; each names the field and the remedy. */
export function profileProblems(profile: Profile): string[] {
  const { scoring, settledPromiseMaxMs, inFlightOf } = profile;
  const problems = [
    ...choiceProblems('assignment', profile.assignment, ['exact', 'ascending']),
    ...choiceProblems('inFlight', profile.inFlight, inFlightPolicies),
    ...Object.entries(inFlightOf).flatMap(([driver, policy]) =>
      choiceProblems(`inFlightOf[${driver}]`, policy, inFlightPolicies),
    ),
    ...profile.poolForms.flatMap((form) =>
      choiceProblems('poolForms', form, ['DriverCapacity', 'CSIStorageCapacity']),
    ),
    ...choiceProblems('scoring.method', scoring.method, ['stowage', 'none', 'utilization']),
    ...shapeProblems(scoring.volumeShape, 'scoring.volumeShape'),
    ...shapeProblems(scoring.poolShape, 'scoring.poolShape'),
  ];
  return settledPromiseMaxMs >= 0 ? problems : [...problems, 'settledPromiseMaxMs: must be zero or more'];
}

const inFlightPolicies = ['linear', 'one-at-a-time', 'off'];

function choiceProblems(field: string, value: string, choices: readonly string[]): string[] {
  return choices.includes(value) ? [] : [`${field}: "${value}" is none of ${choices.join(', ')}`];
}

function shapeProblems(shape: UtilizationShape, field: string): string[] {
  const problems: string[] = [];
  if (shape.length === 0) problems.push(`${field}: has no points; give at least one`);
  for (const [position, { utilization, score }] of shape.entries()) {
    const at = `${field}[${position}]`;
    if (!(utilization >= 0 && utilization <= 100)) problems.push(`${at}.utilization: must be from 0 to 100`);
    if (!(score >= 0 && score <= 10)) problems.push(`${at}.score: must be from 0 to 10`);
    if (position > 0 && utilization <= shape[position - 1]!.utilization) {
      problems.push(`${at}.utilization: must be more than that of the point before it`);
    }
  }
  return problems;
}
