import { builtInKindCatalog } from '../../../src/apiserver/kinds/built-in-kinds.ts';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import { runControllers } from '../../../src/controllers/run-controllers.ts';
import { stowageGroup } from '../../../src/kube/stowage/driver-capacity.ts';
import { realClock } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { Supervisor } from '../../../src/runtime/supervisor.ts';

/** Runs some of our controllers in this process on any cluster, until the returned supervisor is closed. */
export function runOurControllers(cluster: Cluster, names: readonly string[]): Supervisor {
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => console.error(name, error),
  });
  runControllers({
    names,
    cluster,
    // kube-apiserver has all kinds except our own.
    resources: builtInKindCatalog().all.filter(
      ({ storedAs, group }) => storedAs === undefined && group !== stowageGroup,
    ),
    clock: realClock,
    random: systemRandom,
    supervisor,
    // Conflicts and similar errors are retried; the tests compare the final state.
    report: () => {},
    onError: () => {},
    instance: 'test',
    ids: systemIds,
    metrics: new Metrics(),
  });
  return supervisor;
}
