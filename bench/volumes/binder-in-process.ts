import type { Cluster } from '../../src/cluster/cluster.ts';
import { EventRecorder } from '../../src/cluster/event-recorder.ts';
import { events } from '../../src/cluster/resources.ts';
import { SharedInformers } from '../../src/controllers/shared-informers.ts';
import { pvBinder } from '../../src/controllers/volumes/pv-binder/pv-binder.ts';
import { Census } from '../../src/controllers/workloads/census.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import type { Supervisor } from '../../src/runtime/supervisor.ts';

/** Runs our binder in this process, on whatever cluster, until the supervisor ends. What went wrong comes into the list. */
export function runBinder(cluster: Cluster, supervisor: Supervisor): readonly unknown[] {
  const random = seededRandom('bench');
  const common = { cluster, clock: realClock, random, supervisor, ids: systemIds };
  const troubles: unknown[] = [];
  const onError = (error: unknown) => troubles.push(error);
  const recorder = new EventRecorder({
    ...common,
    events: cluster.resource(events),
    reportingController: pvBinder.name,
    reportingInstance: 'bench',
  });
  const context = {
    ...common,
    resources: [],
    informers: new SharedInformers({ ...common, onError }),
    census: new Census({ ...common, resources: [], onError }),
    events: recorder,
    report: onError,
  };
  supervisor.start(pvBinder.name, (signal) => pvBinder.run(context, signal));
  return troubles;
}
