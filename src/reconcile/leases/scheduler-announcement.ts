import {
  type Profile,
  profileProblems,
  stowageProfile,
  upstreamProfile,
} from '../../engine/cluster-index/profile.ts';
import { isRecord } from '../../kube/wire.ts';
import type { SchedulerAnnouncement } from './component-lease.ts';
import { schedulerNamesDefault } from './scheduler-names.ts';

const bases: readonly Profile[] = [stowageProfile, upstreamProfile];

/** What the scheduler publishes on its Lease, so that `stowage explain` applies the same rules. */
export function schedulerAnnouncement({
  schedulerNames = schedulerNamesDefault,
  profile = stowageProfile,
}: {
  readonly schedulerNames?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
}): SchedulerAnnouncement {
  const [nearest] = bases
    .map((base) => ({ base, changes: changesFrom(base, profile) }))
    .sort((a, b) => Object.keys(a.changes).length - Object.keys(b.changes).length);
  const { base, changes } = nearest!;
  return { names: schedulerNames, profile: base.name, profileChanges: JSON.stringify(changes) };
}

/** The announced profile. Undefined if it cannot be read, for example because a newer version has announced it. */
export function announcedProfile({ profile, profileChanges }: SchedulerAnnouncement): Profile | undefined {
  const base = bases.find(({ name }) => name === profile);
  const changes = base && changesIn(profileChanges, base);
  if (base === undefined || changes === undefined) return undefined;
  if (Object.keys(changes).length === 0) return base;
  const changed = { ...base, ...changes };
  return profileProblems(changed).length === 0 ? changed : undefined;
}

/** The name is published too: the profile must be shown under it. */
function changesFrom(base: Profile, profile: Profile): Partial<Profile> {
  const fields = Object.entries(profile).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(base[field as keyof Profile]),
  );
  return Object.fromEntries(fields);
}

/** Each field must exist in the base and have the type that it has there. */
function changesIn(text: string, base: Profile): Partial<Profile> | undefined {
  try {
    const changes: unknown = JSON.parse(text);
    if (!isRecord(changes)) return undefined;
    const isKnown = Object.entries(changes).every(
      ([field, value]) => Object.hasOwn(base, field) && typeof value === typeof base[field as keyof Profile],
    );
    return isKnown ? (changes as Partial<Profile>) : undefined;
  } catch {
    return undefined;
  }
}
