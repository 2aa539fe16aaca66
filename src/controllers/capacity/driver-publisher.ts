import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';
import type { CSIDriver, StorageClass } from '../../kube/api/storage.ts';
import {
  csiDrivers,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../kube/resources.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import type { BackgroundWork } from '../../runtime/supervisor.ts';
import type { CapacitySettings } from '../capacity-settings.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import { CapacityObjects } from './capacity-objects.ts';
import { capacityReportOfKey } from './capacity-report-id.ts';
import { CapacityReportProblems } from './capacity-report-problems.ts';
import { CapacityReportPublication, segmentGraceMs } from './capacity-report-publication.ts';
import { CapacityReportQueue } from './capacity-report-queue.ts';
import { OrphanedCapacityReports } from './cleanup/orphaned-capacity-reports.ts';
import { DesiredCapacityReports } from './desired-capacity-reports.ts';
import { DriverCapacityShards } from './driver-capacity-shards.ts';
import { InlineVolumeEvents } from './inline-volume-events.ts';
import { PoolDrift } from './pool-drift.ts';
import { SegmentSource } from './segment-source.ts';
import { segmentKeyOf } from './topology-segment.ts';
import { VolumeEvents } from './volume-events.ts';

export interface DriverPublisherOptions {
  readonly context: ControllerContext;
  readonly driver: ServedCsiDriver;
  readonly settings: CapacitySettings;
  /** The node that this publisher is responsible for; undefined: all. */
  readonly nodeName: string | undefined;
  /** The deadline of calls. */
  readonly timeoutMs: number;
  readonly owner: OwnerReference | undefined;
  readonly metrics: CapacityMetrics;
}

/** A capacity report is valid for so many poll intervals, if it expires at all. It is renewed when half of that is over. */
const pollsPerLifetime = 10;

const name = 'capacity';

/** Publishes the capacity of one driver. */
export class DriverPublisher {
  readonly #options: DriverPublisherOptions;
  readonly #desired: DesiredCapacityReports;
  readonly #reports: CapacityReportQueue;
  readonly #objects: CapacityObjects;
  readonly #shards: DriverCapacityShards;
  readonly #problems: CapacityReportProblems;
  readonly #publication: CapacityReportPublication;
  readonly #segments: SegmentSource;
  readonly #volumes: VolumeEvents;
  readonly #inlineVolumes: InlineVolumeEvents;
  readonly #drift: PoolDrift | undefined;
  readonly #orphans: OrphanedCapacityReports;
  readonly #pods: Informer<Pod> | undefined;
  #podWork: BackgroundWork | undefined;

  constructor(options: DriverPublisherOptions) {
    this.#options = options;
    const { context, driver, settings, nodeName, timeoutMs, metrics } = options;
    const lifetimeMs = pollsPerLifetime * settings.pollIntervalMs;
    const own = { context, driver: driver.name, nodeName };
    const csiDriver = () => this.#csiDriver();
    this.#desired = new DesiredCapacityReports({
      driver: driver.name,
      forImmediateBinding: settings.forImmediateBinding,
      forEphemeral: () => settings.forEphemeral || this.#isEphemeralOnly(),
      forClasses: () => !this.#isEphemeralOnly(),
    });
    const desired = this.#desired;
    const reports = new CapacityReportQueue(context.clock, desired);
    this.#reports = reports;
    this.#objects = new CapacityObjects({ ...own, namespace: settings.namespace, owner: options.owner });
    this.#shards = new DriverCapacityShards({ ...own, csiDriver, lifetimeMs });
    this.#problems = new CapacityReportProblems({ ...own, desired, csiDriver, metrics });
    this.#segments = new SegmentSource({
      context,
      driver,
      desired,
      reports,
      nodeName,
      prefix: settings.topologyPrefix,
      timeoutMs,
    });
    this.#volumes = new VolumeEvents({
      context,
      driver: driver.name,
      desired,
      reports,
      segments: this.#segments,
    });
    this.#inlineVolumes = new InlineVolumeEvents({
      driver: driver.name,
      reports,
      segments: this.#segments,
    });
    this.#drift = driver.name === drivesDriver ? undefined : this.#poolDrift();
    this.#orphans = new OrphanedCapacityReports({
      context,
      driver: driver.name,
      namespace: settings.namespace,
    });
    this.#pods = this.#podInformer();
    this.#publication = new CapacityReportPublication({
      context,
      measurement: { driver, clock: context.clock, timeoutMs },
      desired,
      reports,
      stores: { CSIStorageCapacity: this.#objects, DriverCapacity: this.#shards },
      form: settings.form,
      problems: this.#problems,
      metrics,
      pollIntervalMs: settings.pollIntervalMs,
      lifetimeMs,
      graceMs: nodeName === undefined ? segmentGraceMs : 0,
      sendsTopology: () => nodeName === undefined || !this.#isEphemeralOnly(),
      drift: this.#drift,
    });
  }

  /** Not for local drives: their ledgers list their volumes, and a drive that comes, is cordoned or goes changes the report of its node. */
  #poolDrift(): PoolDrift {
    const { context, driver, settings, timeoutMs, metrics } = this.#options;
    return new PoolDrift({
      driver,
      clock: context.clock,
      log: context.log,
      timeoutMs,
      pollIntervalMs: settings.pollIntervalMs,
      desired: this.#desired,
      reports: this.#reports,
      metrics,
      servesClass: (className) =>
        context.informers.of(storageClasses).get(className)?.provisioner === driver.name,
      labelsOf: (node) => this.#segments.labelsOf(node),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { context, metrics } = this.#options;
    const stopMetrics = context.metrics.beforeRender(() => this.#updateMetrics(metrics));
    try {
      // Before the driver has said on which node it runs, nothing is known to be obsolete.
      if (!(await this.#segments.prepare(signal))) return;
      await Promise.all([this.#loop(signal), this.#orphans.run(signal)]);
    } finally {
      stopMetrics();
      await Promise.all([this.#objects.close(), this.#shards.close(), this.#podWork?.stop()]);
    }
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { context, settings } = this.#options;
    const loop = {
      controller: name,
      caches: this.#caches(),
      listen: () => this.#listen(),
      queue: this.#reports.queue,
      reconcile: (key: string) => this.#publication.reconcile(key, signal),
      workers: settings.threads,
    };
    await runLoop(context, loop, signal);
  }

  /** Segments first: classes and volumes are looked up in them. */
  #listen(): readonly (() => void)[] {
    const { context, driver } = this.#options;
    const classes = context.informers.of(storageClasses);
    const drivers = context.informers.of(csiDrivers);
    const volumes = context.informers.of(persistentVolumes);
    const enqueue = (key: string) => this.#reports.queue.add(key);
    return [
      ...this.#segments.listen(() => this.#enqueueObsolete()),
      classes.addHandler({
        added: (one) => this.#classChanged(one),
        updated: (one) => this.#classChanged(one),
        deleted: (one) => this.#classDeleted(one),
      }),
      ...this.#listenForDrift(),
      ...(this.#pods === undefined ? [] : [this.#pods.addHandler(this.#inlineVolumes.podHandler)]),
      volumes.addHandler(this.#volumes.volumeHandler),
      drivers.addHandler({
        added: (one) => this.#driverChanged(one),
        updated: (one) => this.#driverChanged(one),
        deleted: (one) => this.#driverChanged(one),
      }),
      this.#objects.listen(enqueue),
      this.#shards.listen(enqueue),
      driver.onCallEnd((call) => this.#volumes.callEnded(call)),
      driver.onCapacityChange?.((segments) => this.#volumes.capacityChanged(segments)) ?? (() => {}),
    ];
  }

  #listenForDrift(): readonly (() => void)[] {
    const { informers } = this.#options.context;
    if (this.#drift === undefined) return [];
    return [
      informers.of(persistentVolumes).addHandler(this.#drift.volumeHandler),
      informers.of(persistentVolumeClaims).addHandler(this.#drift.claimHandler),
      ...(this.#pods === undefined ? [] : [this.#pods.addHandler(this.#drift.podHandler)]),
    ];
  }

  #caches() {
    const { informers } = this.#options.context;
    return [
      informers.of(storageClasses),
      informers.of(csiDrivers),
      informers.of(persistentVolumes),
      informers.of(persistentVolumeClaims),
      this.#objects,
      this.#shards,
      ...this.#segments.caches,
      ...(this.#pods === undefined ? [] : [this.#pods]),
    ];
  }

  /** Only inline volumes need pods, and a publisher of one node only that node's. */
  #podInformer(): Informer<Pod> | undefined {
    const { context, settings, nodeName } = this.#options;
    if (nodeName === undefined) return settings.forEphemeral ? context.informers.of(pods) : undefined;
    const { cluster, clock, random, supervisor } = context;
    const selection = { fieldSelector: `spec.nodeName=${nodeName}` };
    const own = { cluster, clock, resource: pods, selection, random: random.fork('pods') };
    const informer = new Informer<Pod>({ ...own, purpose: this.#options.driver.name });
    this.#podWork = informer.start(supervisor);
    return informer;
  }

  #csiDriver(): CSIDriver | undefined {
    const { context, driver } = this.#options;
    return context.informers.of(csiDrivers).get(driver.name);
  }

  #isEphemeralOnly(): boolean {
    const modes = this.#csiDriver()?.spec?.volumeLifecycleModes ?? [];
    return modes.length > 0 && modes.every((mode) => mode === 'Ephemeral');
  }

  /** Requeues the reports on the disks of the class; each reconcile decides whether it has to write. */
  #classChanged(storageClass: StorageClass): void {
    const className = storageClass.metadata?.name ?? '';
    const before = this.#desired.classOf(className);
    const disks = new Set(before && [this.#desired.disksOf(className).parameters]);
    const isWanted = this.#desired.setClass(storageClass);
    if (!isWanted && before === undefined) return;
    if (isWanted) disks.add(this.#desired.disksOf(className).parameters);
    this.#enqueueOnDisks(disks);
    if (before !== undefined) this.#enqueueObsolete();
  }

  #classDeleted({ metadata }: StorageClass): void {
    const className = metadata?.name ?? '';
    if (this.#desired.classOf(className) === undefined) return;
    const { parameters } = this.#desired.disksOf(className);
    this.#desired.removeClass(className);
    this.#enqueueOnDisks([parameters]);
    this.#enqueueObsolete();
  }

  /** Whether disks are shared is written on the objects of each class that uses them. */
  #enqueueOnDisks(disks: Iterable<string>): void {
    for (const parameters of disks)
      for (const className of this.#desired.classesOnDisks(parameters))
        this.#reports.add(this.#desired.keysOf(className));
  }

  #driverChanged({ metadata }: CSIDriver): void {
    if (metadata?.name !== this.#options.driver.name) return;
    for (const segmentKey of this.#desired.segmentKeys) this.#reports.add(this.#desired.keysIn(segmentKey));
    this.#enqueueObsolete();
  }

  #enqueueObsolete(): void {
    for (const store of [this.#objects, this.#shards])
      for (const key of store.keys()) if (!this.#isWanted(key)) this.#reports.queue.add(key);
  }

  #isWanted(capacityReportKey: string): boolean {
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    return this.#desired.isWanted(storageClassName, segmentKeyOf(segment));
  }

  #updateMetrics(metrics: CapacityMetrics): void {
    const labels = { driver_name: this.#options.driver.name };
    const published = [...this.#objects.keys(), ...this.#shards.keys()];
    const current = published.filter((key) => this.#isWanted(key)).length;
    metrics.desired.set(this.#desired.size, labels);
    metrics.current.set(current, labels);
    metrics.obsolete.set(published.length - current, labels);
    metrics.failing.set(this.#problems.count, labels);
    this.#drift?.updateMetrics();
    const oldestMs = this.#reports.oldestMs();
    const ageMs = oldestMs === undefined ? 0 : this.#options.context.clock.nowMs() - oldestMs;
    metrics.ageSeconds.set(ageMs / 1000, labels);
  }
}
