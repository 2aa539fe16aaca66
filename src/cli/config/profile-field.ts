import {
  type Profile,
  profileProblems,
  stowageProfile,
  upstreamProfile,
  type VolumeScoring,
} from '../../engine/cluster-index/profile.ts';
import {
  choice,
  type Field,
  type Fields,
  isOn,
  list,
  mapping,
  number,
  record,
  secondsFrom,
} from './fields.ts';

const bases = { stowage: stowageProfile, upstream: upstreamProfile } as const;
export type BaseProfile = keyof typeof bases;
// Safe: they are its own keys.
export const baseProfiles = Object.keys(bases) as readonly BaseProfile[];

const inFlight = choice('linear', 'one-at-a-time', 'off');
const shape = list(pointOf);

/** All switches; a switch that is added to the profiles must be added here. */
const switches = {
  honourMatchFields: isOn,
  assignment: choice('exact', 'ascending'),
  preboundIsFinal: isOn,
  retestSelectedNode: isOn,
  checkInlineVolumes: isOn,
  limitChosenVolumes: isOn,
  trustAttachments: isOn,
  affinityReplacesZones: isOn,
  zonesOfEphemeral: isOn,
  honourZoneParameters: isOn,
  requireInstalledDriver: isOn,
  reportsEveryObstacle: isOn,
  zonesNeedVolumes: isOn,
  emptySelectedNodePins: isOn,
  mentionsDynamicResources: isOn,
  completesBindings: isOn,
  namesClosestCandidate: isOn,
  honoursVolumePolicies: isOn,
  honoursHeartbeats: isOn,
  scoresPreferences: isOn,
  inFlight,
  inFlightOf: mapping(inFlight),
  poolForms: list(choice('Drive', 'DriverCapacity', 'CSIStorageCapacity')),
} satisfies { readonly [Name in Exclude<keyof Profile, Unlike>]: Field<Profile[Name]> };
/** Fields that the file spells differently. */
type Unlike = 'name' | 'scoring' | 'settledPromiseMaxMs';

const scoring = {
  method: choice('stowage', 'none', 'utilization'),
  volumeShape: shape,
  poolShape: shape,
} satisfies { readonly [Name in keyof VolumeScoring]: Field<VolumeScoring[Name]> };

const fields = record({
  base: choice(...baseProfiles),
  ...switches,
  scoring: record(scoring),
  settledPromiseMaxSeconds: secondsFrom(0),
});

export type ProfileChanges = NonNullable<ReturnType<typeof fields>>;

/** The field `profile`: a base profile and the switches that differ from it. */
export const profileField: Field<ProfileChanges> = (value, path, problems) => {
  const before = problems.length;
  const changes = fields(value, path, problems);
  if (changes === undefined || problems.length > before) return undefined;
  problems.push(...profileProblems(profileOf(changes)).map((problem) => `${path}.${problem}`));
  return changes;
};

export function profileOf({
  base = 'stowage',
  settledPromiseMaxSeconds,
  ...changes
}: ProfileChanges): Profile {
  const start = bases[base];
  const { scoring: scores = {}, ...others } = changes;
  const isChanged = Object.values(changes).some((value) => value !== undefined);
  const isSame = !isChanged && settledPromiseMaxSeconds === undefined;
  return {
    ...start,
    ...given(others),
    name: isSame ? start.name : `${start.name}, changed`,
    scoring: { ...start.scoring, ...given(scores) },
    settledPromiseMaxMs:
      settledPromiseMaxSeconds === undefined ? start.settledPromiseMaxMs : settledPromiseMaxSeconds * 1000,
  };
}

/** Removes undefined fields, so that they do not override the base. */
function given<T extends object>(values: T): { readonly [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { readonly [Name in keyof T]?: NonNullable<T[Name]> };
}

function pointOf(value: unknown, path: string, problems: string[]) {
  const before = problems.length;
  const { utilization, score }: Fields<typeof point> = record(point)(value, path, problems) ?? {};
  if (problems.length > before) return undefined;
  if (utilization !== undefined && score !== undefined) return { utilization, score };
  problems.push(`${path}: is half a point; give utilization and score`);
  return undefined;
}

const point = { utilization: number, score: number };
