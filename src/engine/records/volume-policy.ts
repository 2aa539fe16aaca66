import { annotations } from '../../kube/well-known.ts';

/** Whether new volumes go where they leave the least or the most free capacity. */
export type PlacementPolicy = 'pack' | 'spread';

/** The level that volumes of one owner do not share. */
export type ApartLevel = (typeof apartLevels)[number];

export const apartLevels = ['drives', 'nodes', 'zones'] as const;

/** The rules for the place of new volumes, from annotations of a StorageClass or claim. */
export interface VolumePolicy {
  /** Undefined: as the next one in order says, at last the profile. */
  readonly placement: PlacementPolicy | undefined;
  /** The part of a drive, in percent of its capacity, that new volumes leave free for expansions. */
  readonly growthReservePercent: number;
  readonly apart: ReadonlySet<ApartLevel>;
}

export const noPolicy: VolumePolicy = { placement: undefined, growthReservePercent: 0, apart: new Set() };

const growthReserveMax = 99;

type Annotations = Readonly<Record<string, unknown>> | null | undefined;

/** Reads the annotations of a StorageClass or claim. What can't be read is not in the policy, and is added to `problems`. */
export function readVolumePolicy(found: Annotations, problems: string[]): VolumePolicy {
  const placement = readPlacement(found, problems);
  const reserve = found?.[annotations.growthReserve];
  const apart = found?.[annotations.volumeAntiAffinity];
  if (placement === undefined && reserve === undefined && apart === undefined) return noPolicy;
  return {
    placement,
    growthReservePercent: reserve === undefined ? 0 : readGrowthReserve(reserve, problems),
    apart: apart === undefined ? noPolicy.apart : readApart(apart, problems),
  };
}

export function readPlacement(found: Annotations, problems: string[]): PlacementPolicy | undefined {
  const value = found?.[annotations.placement];
  if (value === undefined || value === 'pack' || value === 'spread') return value;
  problems.push(`${fieldOf(annotations.placement)}: ${JSON.stringify(value)} must be one of pack, spread`);
  return undefined;
}

/** A canonical form, for comparing two policies. */
export function policyKey({ placement, growthReservePercent, apart }: VolumePolicy): string {
  return `${placement ?? ''} ${growthReservePercent} ${apartLevels.filter((level) => apart.has(level))}`;
}

/** The policy in messages; undefined if nothing is set. */
export function policyText({ placement, growthReservePercent, apart }: VolumePolicy): string | undefined {
  const levels = apartLevels.filter((level) => apart.has(level));
  const parts = [
    ...(placement === undefined ? [] : [`placement ${placement}`]),
    ...(growthReservePercent === 0 ? [] : [`${growthReservePercent} % of a drive kept for expansions`]),
    ...(levels.length === 0 ? [] : [`apart from other volumes of its owner by ${levels.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

function readGrowthReserve(value: unknown, problems: string[]): number {
  const percent = /^(\d{1,2})%$/.exec(typeof value === 'string' ? value : '')?.[1];
  if (percent !== undefined) return Number(percent);
  problems.push(
    `${fieldOf(annotations.growthReserve)}: ${JSON.stringify(value)} must be a whole percentage from 0% to ${growthReserveMax}%, such as 20%`,
  );
  return 0;
}

function readApart(value: unknown, problems: string[]): ReadonlySet<ApartLevel> {
  const words = (typeof value === 'string' ? value : '').split(',').map((word) => word.trim());
  const known = words.flatMap((word) => apartLevels.find((level) => level === word) ?? []);
  if (known.length !== words.length)
    problems.push(
      `${fieldOf(annotations.volumeAntiAffinity)}: ${JSON.stringify(value)} must be one or more of ${apartLevels.join(', ')}, separated by commas`,
    );
  return new Set(known);
}

function fieldOf(annotation: string): string {
  return `metadata.annotations[${annotation}]`;
}
