import { reportMissingPermission } from '../bind/missing-permission.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { MeteredCluster } from '../cluster/metered-cluster.ts';
import { CsiDriverConnections } from '../csi/csi-driver-connections.ts';
import { JoiningDriverSet } from '../csi/joining-driver-set.ts';
import type { CsiDriverSet } from '../csi/served-driver.ts';
import { events } from '../kube/resources.ts';
import type { Controller, ControllerContext } from '../reconcile/controller.ts';
import { EventRecorder } from '../reconcile/event-recorder.ts';
import { announceComponents, isAnnounced } from '../reconcile/leases/announce.ts';
import {
  type ComponentAnnouncement,
  electionName,
  leaseKeyOf,
  leaseLabelsOf,
} from '../reconcile/leases/component-lease.ts';
import { FollowedTerms } from '../reconcile/leases/followed-terms.ts';
import { Leadership, type LeadershipChange } from '../reconcile/leases/leadership.ts';
import { meteredLeadership } from '../reconcile/leases/leadership-metrics.ts';
import { schedulerAnnouncement } from '../reconcile/leases/scheduler-announcement.ts';
import { schedulerName } from '../reconcile/leases/scheduler-names.ts';
import { MetadataCache } from '../reconcile/metadata-cache.ts';
import { SharedInformers, type SharedInformersOptions } from '../reconcile/shared-informers.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Log, silentLog } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { allControllers, type ControllerSettings } from './all-controllers.ts';
import { diskAgentName } from './disk-agent/disk-agent-controller.ts';
import {
  type CsiNodeSettings,
  connectNodePlugins,
} from './workloads/node-agent/csi-records/connect-node-plugins.ts';
import type { CsiNodeSources } from './workloads/node-agent/csi-records/node-plugins.ts';

export interface RunControllersOptions
  extends Omit<ControllerContext, 'informers' | 'metadataCache' | 'events' | 'log'>,
    Omit<SharedInformersOptions, 'onError'>,
    ControllerSettings {
  readonly names: readonly string[];
  /** The CSI node plugins of simulated nodes; without it, there are none. */
  readonly csiNode?: CsiNodeSettings | undefined;
  /** Additional controllers, which run whatever `names` says. */
  readonly more?: readonly Controller[] | undefined;
  /** If left out, nothing is logged. */
  readonly log?: Log | undefined;
  /** Identifies this process in Events and Leases. */
  readonly instance: string;
  /** Called with errors of informers and of the event recorder; both keep running. */
  readonly onError: (error: unknown) => void;
  /**
   * Each controller runs only while this process holds its Lease. A controller that loses its Lease ends, is reported as `lost`, and takes part in
   * the election again. Off by default: controllers start immediately, and announce themselves on their Leases if `version` is set.
   */
  readonly leaderElection?: boolean | undefined;
  /**
   * Appended to the names of Leases. Two installations that serve different CSI drivers run the same controllers, and both have to lead.
   */
  readonly leaseSuffix?: string | undefined;
  /** How often Leases are renewed; by default as often as kube-scheduler does. */
  readonly leaseRetryPeriodMs?: number | undefined;
  /** The time of elections, if it is not that of the controllers. */
  readonly leaseClock?: Clock | undefined;
  /** The connection for Leases, if it is a separate one. */
  readonly leaseCluster?: Cluster | undefined;
  readonly onLeadership?: ((news: LeadershipChange) => void) | undefined;
}

export interface RunningControllers {
  /**
   * The reasons why the controllers are not ready: controllers that have not started, resources that have not been read.
   * Empty once they are ready. A controller on standby is not waited for: it could lead at any time.
   */
  waitingFor(): readonly string[];
}

const drivesName = 'drives';
/** The driver of local drives answers only in the process that leads `drives`; these controllers call it. */
const drivesCallers: ReadonlySet<string> = new Set(['provisioner', 'capacity', 'expander']);

/** Starts the named controllers; they end with the supervisor. */
export function runControllers(unmetered: RunControllersOptions): RunningControllers {
  // The cluster itself can be asked which kinds it serves, the metered one cannot.
  const onError = reportMissingPermission(unmetered);
  const options = { ...unmetered, cluster: new MeteredCluster(unmetered), onError };
  const { names, more = [], leaderElection = false } = options;
  const shared = {
    informers: new SharedInformers(options),
    metadataCache: new MetadataCache(options),
    drivesTerms: names.includes(drivesName) ? new FollowedTerms() : undefined,
  };
  const starting = new Set<string>();
  const chosen = [
    ...allControllers({
      ...options,
      ...driversOf(options),
      csiNodes: csiNodesOf(options),
    }).filter(({ name }) => names.includes(name)),
    ...more,
  ];
  for (const controller of chosen) {
    if (!leaderElection) starting.add(`controller ${controller.name}`);
    startOne(reportingStart(controller, starting), options, shared);
  }
  if (!leaderElection) announceAll(options);
  return { waitingFor: () => [...starting, ...shared.informers.unsynced, ...shared.metadataCache.syncing] };
}

/** Only a process that runs the controller `drives` has its own driver, beside those at the addresses. */
function driversOf(
  options: RunControllersOptions,
): Pick<ControllerSettings, 'csiDrivers' | 'inProcessDrivers'> {
  const csiDrivers = csiDriversOf(options);
  if (!options.names.includes(drivesName)) return { csiDrivers };
  const inProcessDrivers = new JoiningDriverSet(csiDrivers);
  return { csiDrivers: inProcessDrivers, inProcessDrivers };
}

/** Connects to the CSI drivers at the given addresses, unless there is a set of drivers already. */
function csiDriversOf(options: RunControllersOptions): CsiDriverSet | undefined {
  const { csi, csiDrivers, clock, random, supervisor, metrics, log = silentLog } = options;
  if (csiDrivers !== undefined || csi === undefined) return csiDrivers;
  const { addresses } = csi;
  const own = { addresses, addressSource: '--csi-address', random: random.fork('csi') };
  return new CsiDriverConnections({ ...own, clock, log, metrics, supervisor });
}

/** Connects to the node plugins of simulated nodes. */
function csiNodesOf(options: RunControllersOptions): CsiNodeSources | undefined {
  const { csiNode, csiNodes, clock, random, supervisor, metrics, log = silentLog } = options;
  if (csiNodes !== undefined || csiNode === undefined) return csiNodes;
  const own = { random: random.fork('csi-node'), clock, log, metrics, supervisor };
  return connectNodePlugins(csiNode, own);
}

/** The same controller, which reports when it has started: from then on its caches show its progress. */
function reportingStart(controller: Controller, starting: Set<string>): Controller {
  const { name } = controller;
  return {
    name,
    run: (context, signal) => {
      const work = controller.run(context, signal);
      starting.delete(`controller ${name}`);
      return work;
    },
  };
}

function announceAll(options: RunControllersOptions): void {
  const { names, supervisor, clock, version, onError } = options;
  if (version === undefined) return;
  const cluster = options.leaseCluster ?? options.cluster;
  supervisor.start('announcing controllers', (signal) =>
    announceComponents(
      {
        cluster,
        names: names.filter((name) => !isOfOneNode(name, options)),
        announcementOf: (name) => announcementOf(name, options),
        clock,
        onError,
      },
      signal,
    ),
  );
}

interface SharedParts extends Pick<ControllerContext, 'informers' | 'metadataCache'> {
  /** When this process leads `drives`; undefined if it does not run that controller. */
  readonly drivesTerms: FollowedTerms | undefined;
}

function startOne(
  controller: Controller,
  options: RunControllersOptions,
  { drivesTerms, ...shared }: SharedParts,
): void {
  const { clock, ids, supervisor, metrics, report, resources, log = silentLog } = options;
  const random = options.random.fork(controller.name);
  const leadership = isElected(controller, options) ? leadershipOf(controller, options, random) : undefined;
  const cluster = leadership?.guard(options.cluster) ?? options.cluster;
  const recorder = new EventRecorder({
    clock,
    ids,
    supervisor,
    events: cluster.resource(events),
    reportingController: `stowage.dev/${controller.name}`,
    reportingInstance: options.instance,
    random: random.fork('events'),
    onError: options.onError,
  });
  const common = { cluster, clock, random, ids, supervisor, metrics, report, resources, log };
  const lease = heldLease(controller.name, options, leadership !== undefined);
  const context: ControllerContext = { ...common, ...shared, events: recorder, lease };
  const work = (signal: AbortSignal) => controller.run(context, signal);
  supervisor.start(`controller ${controller.name}`, (signal) => {
    if (leadership === undefined) return work(signal);
    if (drivesTerms === undefined) return leadership.run(work, signal);
    if (controller.name === drivesName) return leadership.run(drivesTerms.lead(work), signal);
    const compete = (term: AbortSignal) => leadership.run(work, term);
    return drivesCallers.has(controller.name) ? drivesTerms.follow(compete, signal) : compete(signal);
  });
}

function isElected({ name }: Controller, options: RunControllersOptions): boolean {
  return options.leaderElection === true && !isOfOneNode(name, options);
}

/** The publisher of one node's capacity has no rival: each node has its own, and they write different objects. */
function isOfOneNode(name: string, { csi }: RunControllersOptions): boolean {
  return name === 'capacity' && csi?.nodeName !== undefined;
}

/** The Lease by which others see that the controller runs. The publisher of one node renews one itself. */
function heldLease(name: string, options: RunControllersOptions, isCandidate: boolean): string | undefined {
  const isShown = isAnnounced(name) && options.version !== undefined && !isOfOneNode(name, options);
  if (!isCandidate && !isShown) return undefined;
  const key = leaseKeyOf(isCandidate ? leaseNameOf(name, options) : name);
  return `${key.namespace}/${key.name}`;
}

function leadershipOf({ name }: Controller, options: RunControllersOptions, random: Random): Leadership {
  return new Leadership({
    controller: leaseNameOf(name, options),
    cluster: options.leaseCluster ?? options.cluster,
    identity: options.instance,
    announcement: announcementOf(name, options),
    labels: leaseLabelsOf(name),
    clock: options.clock,
    electionClock: options.leaseClock,
    random: random.fork('election'),
    retryPeriodMs: options.leaseRetryPeriodMs,
    onChange: meteredLeadership(options.metrics, name, options.onLeadership),
    onError: options.onError,
  });
}

/** Each node has its own agent, and of the processes that are the agent of one node, one leads. */
function leaseNameOf(name: string, { diskAgent, leaseSuffix }: RunControllersOptions): string {
  const nodes = name === diskAgentName && diskAgent !== undefined ? diskAgent.nodes.keys() : [];
  return electionName(name, ...nodes, leaseSuffix);
}

function announcementOf(
  controller: string,
  { version = '', volumeScheduling = true, ...options }: RunControllersOptions,
): ComponentAnnouncement {
  const scheduler = controller === schedulerName ? schedulerAnnouncement(options) : undefined;
  return { version, gates: { VolumeScheduling: volumeScheduling }, scheduler };
}
