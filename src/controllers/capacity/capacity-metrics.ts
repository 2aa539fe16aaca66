import type { CounterMetric, GaugeMetric, Metrics } from '../../runtime/metrics.ts';

/** Metrics of the publisher, by driver. The first three have the names that external-provisioner gives them. */
export class CapacityMetrics {
  readonly desired: GaugeMetric;
  readonly current: GaugeMetric;
  readonly obsolete: GaugeMetric;
  /** The age of the oldest measurement. */
  readonly ageSeconds: GaugeMetric;
  readonly failing: GaugeMetric;
  readonly failures: CounterMetric;
  readonly writes: CounterMetric;
  readonly driftPools: GaugeMetric;
  readonly driftBytes: GaugeMetric;
  readonly drifts: CounterMetric;
  readonly listedVolumes: GaugeMetric;
  readonly listedBytes: GaugeMetric;
  readonly listFailures: CounterMetric;

  constructor(metrics: Metrics) {
    const labels = ['driver_name'];
    this.desired = metrics.gauge(
      'csistoragecapacities_desired_goal',
      'Capacity reports that should be published: one for each class and topology segment.',
      labels,
    );
    this.current = metrics.gauge(
      'csistoragecapacities_desired_current',
      'Capacity reports that should be published, and are.',
      labels,
    );
    this.obsolete = metrics.gauge(
      'csistoragecapacities_obsolete',
      'Published reports that should not be, and are going to be removed.',
      labels,
    );
    this.ageSeconds = metrics.gauge(
      'stowage_capacity_figure_age_seconds',
      'Time since the oldest of the published reports was measured. It grows while a driver does not answer.',
      labels,
    );
    this.failing = metrics.gauge(
      'stowage_capacity_failing_figures',
      'Capacity reports that could not be measured or written the last time; the old ones stay published.',
      labels,
    );
    this.failures = metrics.counter(
      'stowage_capacity_failures_total',
      'Failed calls of GetCapacity, by gRPC code, and failed writes of reports.',
      ['driver_name', 'reason'],
    );
    this.writes = metrics.counter('stowage_capacity_writes_total', 'Published reports, by kind of object.', [
      'driver_name',
      'form',
    ]);
    this.driftPools = metrics.gauge(
      'stowage_capacity_drift_pools',
      'Pools whose reports the known volumes do not explain, by kind of difference.',
      ['driver_name', 'kind'],
    );
    this.driftBytes = metrics.gauge(
      'stowage_capacity_drift_bytes',
      'The sum of these differences, without signs.',
      ['driver_name', 'kind'],
    );
    this.drifts = metrics.counter(
      'stowage_capacity_drifts_total',
      'How often a report began to differ from what the known volumes explain.',
      ['driver_name', 'kind'],
    );
    this.listedVolumes = metrics.gauge(
      'stowage_capacity_unknown_volumes',
      'Volumes that the driver lists and no PersistentVolume has: foreign, or leaked if they had one.',
      ['driver_name', 'kind'],
    );
    this.listedBytes = metrics.gauge(
      'stowage_capacity_unknown_volume_bytes',
      'The sum of the sizes of these volumes, as far as the driver tells them.',
      ['driver_name', 'kind'],
    );
    this.listFailures = metrics.counter(
      'stowage_capacity_list_failures_total',
      'Failed calls of ListVolumes. Without a list, shrunken pools look like foreign use.',
      labels,
    );
  }
}
