import { type Profile, stowageProfile, upstreamProfile } from '../../engine/cluster-index/profile.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { Event, Pod } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { textOf } from '../../kube/wire.ts';
import {
  announcementOf,
  leaseKeyOf,
  type SchedulerAnnouncement,
} from '../../reconcile/leases/component-lease.ts';
import { announcedProfile } from '../../reconcile/leases/scheduler-announcement.ts';
import {
  defaultSchedulerName,
  schedulerName,
  schedulerNamesDefault,
} from '../../reconcile/leases/scheduler-names.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import type { Note } from '../view/note.ts';
import type { ProfileSource } from './explanation.ts';
import { lastSeenOf } from './lines.ts';

/** The scheduler that places a pod, and its rules. */
export interface PodScheduler {
  readonly profile: Profile;
  readonly source: ProfileSource;
  /** Whether claims that wait for their first consumer are bound together with the pod. */
  readonly bindsVolumes: boolean;
  /** Why no scheduler seems to place the pod, with what helps; undefined if one may. */
  readonly missing?: string | undefined;
  readonly notes: readonly Note[];
}

export interface PodSchedulerOptions {
  readonly nowMs: number;
  /** Overrides the profile. */
  readonly profile?: 'stowage' | 'upstream' | undefined;
}

const ownComponent = `stowage.dev/${schedulerName}`;

/**
 * Finds the rules by which the pod is really placed. The pod's own events show which component has judged it. Then the Lease of our
 * scheduler shows which pods it places: under `stowage up` also those of `default-scheduler`. `schedulerName` alone proves neither, and
 * is used last.
 */
export function findPodScheduler(view: ClusterView, pod: Pod, options: PodSchedulerOptions): PodScheduler {
  const { nowMs } = options;
  const lease = leaseOf(view, schedulerName);
  const isValid = lease !== undefined && isCurrent(view, lease, nowMs);
  const announced = isValid ? announcementOf(lease).scheduler?.names : undefined;
  const found = schedulerOf(view, pod, options);
  if (found.source === 'event') return found;
  return {
    ...found,
    missing: missingScheduler(view, pod, { name: schedulerNameOf(pod), announced: announced ?? [], nowMs }),
  };
}

function schedulerOf(view: ClusterView, pod: Pod, options: PodSchedulerOptions): PodScheduler {
  const lease = leaseOf(view, schedulerName);
  const announced = lease && announcementOf(lease).scheduler;
  const isValid = lease !== undefined && isCurrent(view, lease, options.nowMs);
  const { isOurs, source } = judgeOf(view, pod, isValid ? announced : undefined);
  const bindsVolumes = !isOurs || gatesAllow(view, options.nowMs);
  if (options.profile !== undefined)
    return { profile: profileOf(options.profile), source: 'flag', bindsVolumes, notes: [] };
  if (!isOurs)
    return { profile: upstreamProfile, source, bindsVolumes, notes: unknownScheduler(pod, source) };
  const profile = announced === undefined ? stowageProfile : announcedProfile(announced);
  if (profile !== undefined) return { profile, source, bindsVolumes, notes: [] };
  return { profile: stowageProfile, source, bindsVolumes, notes: [unreadableProfile(lease)] };
}

export function schedulerNameOf(pod: Pod): string {
  return textOf(pod.spec?.schedulerName) || defaultSchedulerName;
}

interface Judge {
  /** The pod is placed by the scheduler of Stowage. */
  readonly isOurs: boolean;
  readonly source: ProfileSource;
}

function judgeOf(view: ClusterView, pod: Pod, announced: SchedulerAnnouncement | undefined): Judge {
  const event = judgingEvent(view.events, pod);
  const component = event && componentOf(event);
  const name = schedulerNameOf(pod);
  // Our scheduler reports events about pods of default-scheduler under that name; then the Lease decides whether they are ours.
  const isAmbiguous = component === defaultSchedulerName && !isOfKubeScheduler(event);
  const server = servedBy(view, name, announced);
  const isOwnName = isAmbiguous && server !== undefined;
  if (component !== undefined && !isOwnName) return { isOurs: component === ownComponent, source: 'event' };
  if (server !== undefined) return { isOurs: true, source: server };
  return { isOurs: name === 'stowage', source: 'schedulerName' };
}

/** How we know that our scheduler places the pods of this name. Without the right to read Leases, the server of `stowage up` is a sign. */
function servedBy(
  { leases, isEmbedded = false }: ClusterView,
  name: string,
  announced: SchedulerAnnouncement | undefined,
): 'lease' | 'server' | undefined {
  if (announced?.names.includes(name)) return 'lease';
  const isPlaced = name === defaultSchedulerName || name === 'stowage';
  return leases === undefined && isEmbedded && isPlaced ? 'server' : undefined;
}

/** The events that schedulers record about pods. */
const schedulerReasons: ReadonlySet<string> = new Set([
  'FailedScheduling',
  'Scheduled',
  'WaitingForProvisioner',
]);

/** The pod's latest event about scheduling, if it names its component. */
function judgingEvent(events: readonly Event[], { metadata }: Pod): Event | undefined {
  const [latest] = events
    .filter(({ involvedObject: object, reason }) => {
      const isPod = object?.kind === 'Pod' && object.name === metadata?.name;
      // An earlier pod of the same name may have had another scheduler.
      const isSame = object?.uid === undefined || object.uid === metadata?.uid;
      return (
        isPod && isSame && object.namespace === metadata?.namespace && schedulerReasons.has(reason ?? '')
      );
    })
    .sort((a, b) => ((lastSeenOf(a) ?? '') < (lastSeenOf(b) ?? '') ? 1 : -1));
  return latest !== undefined && componentOf(latest) !== '' ? latest : undefined;
}

function componentOf({ reportingComponent, source }: Event): string {
  return textOf(reportingComponent) || textOf(source?.component);
}

/** kube-scheduler's instances are named after the scheduler and the host. */
function isOfKubeScheduler(event: Event | undefined): boolean {
  return textOf(event?.reportingInstance).startsWith(`${defaultSchedulerName}-`);
}

function leaseOf({ leases = [] }: ClusterView, controller: string): Lease | undefined {
  const { namespace, name } = leaseKeyOf(controller);
  return leases.find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
}

/** The clocks may differ by this much. */
const clockSkewMsMax = 60_000;

/** A Lease that is not renewed belongs to a process that has ended. The Leases in files are as old as the files. */
function isCurrent({ isFromFiles = false }: ClusterView, { spec }: Lease, nowMs: number): boolean {
  if (isFromFiles) return true;
  const renewedMs = parseTimestamp(spec?.renewTime) ?? 0;
  return renewedMs + (spec?.leaseDurationSeconds ?? 0) * 1000 + clockSkewMsMax > nowMs;
}

/** Both components must have the feature gate on; Kubernetes' own PV controller always has. */
function gatesAllow(view: ClusterView, nowMs: number): boolean {
  return [schedulerName, 'pv-binder'].every((controller) => {
    const lease = leaseOf(view, controller);
    if (lease === undefined || !isCurrent(view, lease, nowMs)) return true;
    return announcementOf(lease).gates.VolumeScheduling ?? true;
  });
}

function profileOf(name: 'stowage' | 'upstream'): Profile {
  return name === 'stowage' ? stowageProfile : upstreamProfile;
}

function unknownScheduler(pod: Pod, source: ProfileSource): readonly Note[] {
  const name = schedulerNameOf(pod);
  if (source === 'event' || name === defaultSchedulerName) return [];
  const text = `scheduler ${name} is not known here; kube-scheduler's default rules are assumed (--profile chooses)`;
  return [{ about: 'assumed', text }];
}

function unreadableProfile(lease: Lease | undefined): Note {
  const { namespace, name } = lease?.metadata ?? {};
  const text = `the profile on Lease ${namespace}/${name} cannot be read, perhaps because the scheduler is of another version; profile stowage is assumed`;
  return { about: 'assumed', text };
}

// ── No scheduler ──

/** A running scheduler reports on a new pod within this time. */
const silenceMs = 30_000;

interface SchedulerSigns {
  readonly name: string;
  /** Names that the scheduler of Stowage announces on a Lease that is current. */
  readonly announced: readonly string[];
  readonly nowMs: number;
}

/**
 * Why no scheduler seems to place the pod, with what helps; undefined if one may. There is no list of schedulers in Kubernetes. One that runs leaves a
 * trace: a Lease that announces its names, a condition or Event of the pod, or other pods of the same name that have a node.
 */
function missingScheduler(
  view: ClusterView,
  pod: Pod,
  { name, announced, nowMs }: SchedulerSigns,
): string | undefined {
  // kube-scheduler announces its names nowhere. Files may lack Events and Leases.
  if (name === defaultSchedulerName || view.isFromFiles || view.isHypothetical || view.leases === undefined)
    return undefined;
  const createdMs = parseTimestamp(pod.metadata?.creationTimestamp) ?? 0;
  if (nowMs - createdMs < silenceMs || hasTrace(view, pod, name) || announced.includes(name))
    return undefined;
  const known = [...new Set([...announced, defaultSchedulerName])].filter((one) => one !== name);
  const start = schedulerNamesDefault.some((own) => own === name)
    ? 'start it with stowage run --controllers scheduler'
    : `start the scheduler ${name}`;
  return (
    `no scheduler with the name ${name} seems to run: no Lease announces this name, no Event or condition of the pod is from a scheduler, ` +
    `and no other pod of this schedulerName has a node; ${start}, or recreate the pod with a schedulerName that is served, such as ${known.join(' or ')}`
  );
}

function hasTrace(view: ClusterView, pod: Pod, name: string): boolean {
  if (getCondition(pod.status?.conditions, 'PodScheduled') !== undefined) return true;
  for (const { spec } of view.snapshot.values('Pod'))
    if (textOf(spec?.schedulerName) === name && textOf(spec?.nodeName) !== '') return true;
  return false;
}
