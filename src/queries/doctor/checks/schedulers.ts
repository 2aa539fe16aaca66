import type { Event } from '../../../kube/api/events.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { textOf } from '../../../kube/wire.ts';
import { announcementOf } from '../../../reconcile/leases/component-lease.ts';
import { defaultSchedulerName, schedulerNamesDefault } from '../../../reconcile/leases/scheduler-names.ts';
import type { Check, Found } from '../check.ts';
import { type ClusterFacts, factItems, factValue } from '../facts.ts';
import { componentLeases, leaseState } from './components.ts';

/** A running scheduler has tried a pod within this time. */
const noticeMsMax = 60_000;
/** One change of the leader makes two runs of events, three may be a flapping leader. */
const runsOfTwoSchedulers = 4;

export const schedulerChecks: readonly Check[] = [
  { subject: 'schedulers that pods name', needs: ['pendingPods', 'leases'], find: absentFindings },
  { subject: 'schedulers of the same name', needs: ['leases'], find: sharedNameFindings },
  { subject: 'the events of schedulers', needs: ['schedulingEvents'], find: eventFindings },
];

/** The names that our running scheduler places pods of. */
function servedNames(facts: ClusterFacts): readonly string[] {
  return componentLeases(facts)
    .filter((lease) => leaseState(lease, facts.clock, facts.nowMs) === 'running')
    .flatMap((lease) => announcementOf(lease).scheduler?.names ?? []);
}

function absentFindings(facts: ClusterFacts): readonly Found[] {
  const served = new Set(servedNames(facts));
  const waiting = new Map<string, number>();
  for (const { metadata, spec, status } of factValue(facts.lists.pendingPods)) {
    const name = textOf(spec?.schedulerName) || defaultSchedulerName;
    const createdMs = parseTimestamp(metadata?.creationTimestamp) ?? facts.nowMs;
    const isNoticed = status?.conditions?.some(({ type }) => type === 'PodScheduled') === true;
    if (served.has(name) || textOf(spec?.nodeName) !== '') continue;
    // A scheduler of others is known only by what it says about pods.
    if (!isOurs(name, facts) && (isNoticed || facts.nowMs - createdMs < noticeMsMax)) continue;
    waiting.set(name, (waiting.get(name) ?? 0) + 1);
  }
  return [...waiting].map(([name, count]) => ({
    code: 'SchedulerNotRunning',
    object: { kind: 'Scheduler', name },
    detail: `${count} pending ${count === 1 ? 'pod names' : 'pods name'} it, and ${absence(name, facts)}`,
  }));
}

function isOurs(name: string, facts: ClusterFacts): boolean {
  return (
    schedulerNamesDefault.includes(name) ||
    componentLeases(facts).some((lease) => announcementOf(lease).scheduler?.names.includes(name))
  );
}

function absence(name: string, facts: ClusterFacts): string {
  return isOurs(name, facts)
    ? 'no process renews the Lease stowage-scheduler for it'
    : 'no scheduler has said anything about them for a minute';
}

/** kube-scheduler's Lease shows that it runs; its profile for `default-scheduler` can be removed, but that is rare. */
function sharedNameFindings(facts: ClusterFacts): readonly Found[] {
  if (!servedNames(facts).includes(defaultSchedulerName)) return [];
  const kubeScheduler = factItems(facts.lists.leases).find(
    ({ metadata }) => metadata?.name === 'kube-scheduler',
  );
  if (kubeScheduler === undefined || leaseState(kubeScheduler, facts.clock, facts.nowMs) !== 'running')
    return [];
  return [
    {
      code: 'TwoSchedulers',
      object: { kind: 'Scheduler', name: defaultSchedulerName },
      detail: `Stowage and kube-scheduler (${textOf(kubeScheduler.spec?.holderIdentity)}) both run for it`,
    },
  ];
}

/** Instances that take turns in reporting decisions under one name run at the same time. */
function eventFindings({ lists }: ClusterFacts): readonly Found[] {
  const byName = new Map<string, Event[]>();
  for (const event of factValue(lists.schedulingEvents)) {
    const name = textOf(event.reportingController);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [event]);
    else known.push(event);
  }
  return [...byName].flatMap(([name, events]) => {
    const instances = events
      .map((event) => ({ timeMs: parseTimestamp(event.eventTime), by: textOf(event.reportingInstance) }))
      .filter(({ timeMs, by }) => timeMs !== undefined && by !== '')
      .toSorted((a, b) => a.timeMs! - b.timeMs!)
      .map(({ by }) => by);
    const runs = instances.filter((by, at) => at === 0 || by !== instances[at - 1]);
    if (runs.length < runsOfTwoSchedulers || new Set(runs).size < 2) return [];
    const detail = `${[...new Set(runs)].join(' and ')} report decisions in turn`;
    return [
      { code: 'TwoSchedulers', severity: 'warning', object: { kind: 'Scheduler', name }, detail } as const,
    ];
  });
}
