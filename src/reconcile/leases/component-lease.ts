import type { Lease } from '../../kube/api/coordination.ts';
import { publisherLeaseLabels } from '../../kube/publisher-heartbeat.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import { annotations } from '../../kube/well-known.ts';

/** The Lease of a controller: it names the process that runs it and carries its announcement. */
export function leaseKeyOf(controller: string): ObjectKey & { readonly namespace: string } {
  return { namespace: 'kube-system', name: `stowage-${controller}` };
}

/** The name under which a controller has its Lease: the node of an agent and the suffix of an installation follow, where there are any. */
export function electionName(controller: string, ...qualifiers: readonly (string | undefined)[]): string {
  return [controller, ...qualifiers.filter((one) => one !== undefined)].join('-');
}

/** The labels of a controller's Lease. Readers of published capacity watch those of its publishers. */
export function leaseLabelsOf(controller: string): Readonly<Record<string, string>> | undefined {
  return controller === 'capacity' ? publisherLeaseLabels : undefined;
}

/** Switches of a component, by the name of the gate. */
export type AnnouncedGates = Readonly<Record<string, boolean>>;

/** What a component publishes about itself. */
export interface ComponentAnnouncement {
  readonly version: string;
  readonly gates: AnnouncedGates;
  /** Only a scheduler has it. */
  readonly scheduler?: SchedulerAnnouncement | undefined;
}

/** Which pods a scheduler places, and by which rules. */
export interface SchedulerAnnouncement {
  /** The values of `spec.schedulerName`. */
  readonly names: readonly string[];
  /** The name of the profile that its rules start from. */
  readonly profile: string;
  /** The fields of its profile that differ, as a JSON object. */
  readonly profileChanges: string;
}

/** The annotations of its Lease. */
export function announcementAnnotations({
  version,
  gates,
  scheduler,
}: ComponentAnnouncement): Readonly<Record<string, string>> {
  const values = Object.entries(gates).map(([name, isOn]) => `${name}=${isOn}`);
  const common = { [annotations.version]: version, [annotations.featureGates]: values.join(',') };
  if (scheduler === undefined) return common;
  return {
    ...common,
    [annotations.schedulerNames]: scheduler.names.join(','),
    [annotations.profile]: scheduler.profile,
    [annotations.profileChanges]: scheduler.profileChanges,
  };
}

/** The announcement on a Lease. A missing version is empty, and a missing gate is left out. */
export function announcementOf(lease: Lease): ComponentAnnouncement {
  const all = lease.metadata?.annotations ?? {};
  const pairs = (all[annotations.featureGates] ?? '').split(',').map((pair) => pair.trim().split('='));
  const gates = pairs.flatMap(([name = '', value]) =>
    value === 'true' || value === 'false' ? [[name, value === 'true'] as const] : [],
  );
  return {
    version: all[annotations.version] ?? '',
    gates: Object.fromEntries(gates),
    scheduler: announcedScheduler(all),
  };
}

/** Undefined if the Lease is not a scheduler's, or if its scheduler is of a version that does not announce its rules. */
function announcedScheduler(all: Readonly<Record<string, string>>): SchedulerAnnouncement | undefined {
  const profile = all[annotations.profile];
  if (profile === undefined) return undefined;
  const names = (all[annotations.schedulerNames] ?? '').split(',').filter((name) => name !== '');
  return { names, profile, profileChanges: all[annotations.profileChanges] ?? '{}' };
}
