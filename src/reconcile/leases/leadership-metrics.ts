import type { CounterMetric, GaugeMetric, Metrics } from '../../runtime/metrics.ts';
import type { LeadershipChange } from './leadership.ts';

/**
 * A listener for `Leadership` that counts the changes, and passes them on. A leader that flaps is one that can't renew its Lease, or whose
 * process restarts.
 */
export function meteredLeadership(
  metrics: Metrics,
  controller: string,
  onChange?: (change: LeadershipChange) => void,
): (change: LeadershipChange) => void {
  const { leader, changes } = leadershipMetrics(metrics);
  leader.set(0, { controller });
  changes.add({ controller }, 0);
  return (change) => {
    leader.set(change.kind === 'leads' ? 1 : 0, { controller });
    if (change.kind !== 'follows') changes.add({ controller });
    onChange?.(change);
  };
}

function leadershipMetrics(metrics: Metrics): {
  readonly leader: GaugeMetric;
  readonly changes: CounterMetric;
} {
  return {
    leader: metrics.gauge('stowage_leader', 'Whether this process leads the controller.', ['controller']),
    changes: metrics.counter(
      'stowage_leader_changes_total',
      'How often this process began or ceased to lead the controller.',
      ['controller'],
    ),
  };
}
