/** A situation in which an alert fires, and one close to it in which it must not. */
export interface AlertCase {
  readonly alert: string;
  /** Prometheus' notation, a sample each minute: `a+bx90` grows by `b`, ninety times. */
  readonly fires: readonly string[];
  /** The labels of the alert, as its annotations use them. */
  readonly labels: string;
  readonly isQuiet: readonly string[];
}

/** `count` series, one for each process. */
const leaders = (controller: string, ...values: readonly string[]) =>
  values.map((value, at) => `stowage_leader{controller="${controller}",instance="${at}"} ${value}`);

const requests = (code: string, verb: string, values: string) =>
  `stowage_api_requests_total{code="${code}",verb="${verb}"} ${values}`;

const bucket = (le: string, values: string) => `stowage_scheduler_bind_seconds_bucket{le="${le}"} ${values}`;

const ofDriver = (metric: string, values: string, more = '') =>
  `${metric}{driver_name="d.example.com"${more}} ${values}`;

/** Alerts of a gauge that should be zero. */
function aboveZero(alert: string, metric: string, labels = '{}'): AlertCase {
  return { alert, fires: [`${metric} 2x90`], labels, isQuiet: [`${metric} 0x90`] };
}

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'StowageSchedulerDown',
    fires: leaders('scheduler', '0x90', '0x90'),
    labels: '{}',
    isQuiet: leaders('scheduler', '0x90', '1x90'),
  },
  {
    alert: 'StowageControllerWithoutLeader',
    fires: leaders('expander', '0x90', '0x90'),
    labels: '{controller="expander"}',
    isQuiet: leaders('expander', '0x90', '1x90'),
  },
  {
    alert: 'StowageLeaderFlaps',
    fires: leaders('scheduler', '0x80 1 0 1 0 1 0 1', '1x80 0 1 0 1 0 1 0'),
    labels: '{controller="scheduler"}',
    // The leader was replaced once.
    isQuiet: leaders('scheduler', '0x80 1x10', '1x80 0x10'),
  },
  {
    // Pods that crash have a series each, in which nothing changes.
    alert: 'StowageLeaderFlaps',
    fires: leaders('scheduler', '1x70', '_x70 1x5', '_x75 1x5', '_x80 1x10'),
    labels: '{controller="scheduler"}',
    isQuiet: leaders('scheduler', '1x80', '_x80 1x10'),
  },
  {
    alert: 'StowageApiServerErrors',
    fires: [requests('200', 'list', '0+60x90'), requests('500', 'list', '0+30x90')],
    labels: '{}',
    isQuiet: [requests('200', 'list', '0+60x90'), requests('500', 'list', '0+1x90')],
  },
  {
    alert: 'StowageWriteConflicts',
    fires: [requests('200', 'patch', '0+60x90'), requests('409', 'patch', '0+30x90')],
    labels: '{}',
    isQuiet: [requests('200', 'patch', '0+60x90'), requests('409', 'patch', '0+3x90')],
  },
  {
    alert: 'StowageSchedulerErrors',
    fires: ['stowage_scheduler_attempts_total{result="error"} 0+60x90'],
    labels: '{}',
    isQuiet: [
      'stowage_scheduler_attempts_total{result="error"} 0+1x90',
      'stowage_scheduler_attempts_total{result="scheduled"} 0+600x90',
    ],
  },
  {
    alert: 'StowageSchedulerFallsBehind',
    fires: ['stowage_scheduler_pending_pods{queue="active"} 200+10x90'],
    labels: '{}',
    // Many pods, and fewer from minute to minute.
    isQuiet: ['stowage_scheduler_pending_pods{queue="active"} 2000-10x90'],
  },
  aboveZero('StowagePodsUnschedulable', 'stowage_scheduler_pending_pods{queue="unschedulable"}'),
  {
    alert: 'StowageBindingsSlow',
    fires: [bucket('60', '0+1x90'), bucket('300', '0+10x90'), bucket('+Inf', '0+10x90')],
    labels: '{}',
    isQuiet: [bucket('60', '0+10x90'), bucket('300', '0+10x90'), bucket('+Inf', '0+10x90')],
  },
  {
    alert: 'StowageReservationsLeft',
    fires: ['stowage_scheduler_reserved_pods 3x90', 'stowage_scheduler_binding_pods 1x90'],
    labels: '{}',
    isQuiet: ['stowage_scheduler_reserved_pods 3x90', 'stowage_scheduler_binding_pods 3x90'],
  },
  {
    alert: 'StowageSweepFound',
    fires: ['stowage_sweep_rescued_total{controller="scheduler"} 0x80 1x10'],
    labels: '{controller="scheduler"}',
    // It has found something, but not in the last hour.
    isQuiet: ['stowage_sweep_rescued_total{controller="scheduler"} 0x10 1x90'],
  },
  {
    alert: 'StowageCapacityOld',
    fires: [ofDriver('stowage_capacity_figure_age_seconds', '700x90')],
    labels: '{driver_name="d.example.com"}',
    isQuiet: [ofDriver('stowage_capacity_figure_age_seconds', '60x90')],
  },
  aboveZero('StowagePublisherGone', 'stowage_scheduler_pools_without_publisher'),
  {
    alert: 'StowageCapacityNotPublished',
    fires: [
      ofDriver('csistoragecapacities_desired_goal', '5x90'),
      ofDriver('csistoragecapacities_desired_current', '3x90'),
    ],
    labels: '{driver_name="d.example.com"}',
    isQuiet: [
      ofDriver('csistoragecapacities_desired_goal', '5x90'),
      ofDriver('csistoragecapacities_desired_current', '5x90'),
    ],
  },
  aboveZero(
    'StowageCapacityDrifts',
    'stowage_capacity_drift_pools{driver_name="d.example.com",kind="less"}',
    '{driver_name="d.example.com", kind="less"}',
  ),
  aboveZero(
    'StowageVolumesLeaked',
    'stowage_capacity_unknown_volumes{driver_name="d.example.com",kind="leaked"}',
    '{driver_name="d.example.com"}',
  ),
  {
    alert: 'StowageDriverCallsFail',
    fires: [
      ofDriver(
        'csi_sidecar_operations_seconds_count',
        '0+6x90',
        ',method_name="CreateVolume",grpc_status_code="Unavailable"',
      ),
    ],
    labels: '{driver_name="d.example.com", method_name="CreateVolume"}',
    // A driver that is full answers as it should.
    isQuiet: [
      ofDriver(
        'csi_sidecar_operations_seconds_count',
        '0+6x90',
        ',method_name="CreateVolume",grpc_status_code="ResourceExhausted"',
      ),
    ],
  },
  aboveZero('StowageDriveLost', 'stowage_drives{state="Lost"}', '{state="Lost"}'),
  aboveZero('StowageDriveLedgerDiffers', 'stowage_drive_ledger_findings{kind="unused"}', '{kind="unused"}'),
  aboveZero('StowageDriveOverCommitted', 'stowage_drives_overcommitted'),
  {
    alert: 'StowageDrivesFull',
    fires: ['stowage_drive_promised_bytes 95x90', 'stowage_drive_capacity_bytes 100x90'],
    labels: '{}',
    // No drive at all is not a full one.
    isQuiet: ['stowage_drive_promised_bytes 0x90', 'stowage_drive_capacity_bytes 0x90'],
  },
  {
    alert: 'StowageDriveCallsFail',
    fires: [
      'stowage_csi_served_seconds_count{method_name="NodeStageVolume",grpc_status_code="Internal"} 0+6x90',
    ],
    labels: '{method_name="NodeStageVolume"}',
    isQuiet: [
      'stowage_csi_served_seconds_count{method_name="NodeStageVolume",grpc_status_code="Internal"} 0x90',
    ],
  },
  aboveZero('StowageDiskNotReady', 'stowage_disks{state="not-ready"}'),
  aboveZero('StowageStorageNodeNotReady', 'stowage_storage_nodes_not_ready'),
  aboveZero('StowageVolumeFaulted', 'stowage_disk_volumes{robustness="faulted"}'),
  aboveZero('StowageVolumeDegraded', 'stowage_disk_volumes{robustness="degraded"}'),
  aboveZero('StowageDiskOverCommitted', 'stowage_disks{state="over-committed"}'),
  {
    alert: 'StowageDiskRequestsWait',
    fires: ['stowage_disk_requests{state="pending"} 3x90'],
    labels: '{}',
    // Other requests from minute to minute: each was answered.
    isQuiet: ['stowage_disk_requests{state="pending"} 3x84 0 3x4'],
  },
  {
    alert: 'StowageDiskAgentStuck',
    fires: ['stowage_disk_agent_probe_age_seconds{storage_node="n1"} 400x90'],
    labels: '{storage_node="n1"}',
    isQuiet: ['stowage_disk_agent_probe_age_seconds{storage_node="n1"} 20x90'],
  },
];
