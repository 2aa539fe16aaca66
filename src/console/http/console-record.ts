import { textOf } from '../../kube/wire.ts';
import { mayList, type Rights } from '../access/rights.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { ConsoleRecord, HistoryAnswer } from '../wire/answers.ts';

/** The part of the record that the viewer may see. */
export function visibleRecord(state: ClusterState, history: HistoryAnswer, rights: Rights): ConsoleRecord {
  const pods = [...state.snapshot.values('Pod')].filter(({ metadata }) =>
    mayList(rights, 'pods', textOf(metadata?.namespace)),
  );
  const steps = pods.flatMap(({ metadata }) => {
    const seen = state.paths.seenStepsOf(textOf(metadata?.uid));
    return seen === undefined ? [] : [[textOf(metadata?.uid), seen] as const];
  });
  return {
    isComplete: rights.isFull,
    history: visibleHistory(history, rights),
    steps: Object.fromEntries(steps),
  };
}

/** Sums over all namespaces: only for viewers who may list everything that they are sums of. */
export function visibleHistory({ timesMs, series, note }: HistoryAnswer, rights: Rights): HistoryAnswer {
  const visible = series.filter(({ group }) =>
    pluralsOfGroup(group).every((plural) => mayList(rights, plural)),
  );
  return { timesMs, series: visible, note };
}

/** Bytes of pools and drives are promised to claims. */
function pluralsOfGroup(group: string): readonly string[] {
  if (group === 'pods') return ['pods'];
  if (group === 'drives') return ['drives', 'persistentvolumeclaims', 'pods'];
  if (group === 'disks') return ['diskschedules', 'storagenodes'];
  if (group.startsWith('volumes ')) return ['persistentvolumes'];
  return ['csistoragecapacities', 'drivercapacities', 'persistentvolumes', 'persistentvolumeclaims', 'pods'];
}
