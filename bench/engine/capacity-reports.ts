/** What one published capacity report costs the scheduler's thread. */
import { type ClusterIndex, plan, type Refusal } from '../../src/engine/index.ts';
import { clusterOf } from '../../src/engine/testing/cluster.ts';
import { type Row, timeEach } from '../harness.ts';
import {
  capacities,
  nodes,
  podWithClaims,
  pooledClass,
  pooledDriver,
  poolObjects,
  updatedCapacity,
  updatedPoolObject,
} from './clusters.ts';

const pools = 5000;
const waitingPods = 100;

/** How publishers write the capacity reports of 5,000 nodes. A publisher on each node writes its own object. */
const forms = [
  { form: 'CSIStorageCapacity', objects: pools, figures: 5000 },
  { form: 'DriverCapacity', objects: pools, figures: 5000 },
  { form: 'DriverCapacity', objects: 1, figures: 100 },
] as const;

/** One published capacity report reaches the index, and waiting pods are asked whether it could help them; no pool grows, so none is woken. */
export function capacityReportRows(progress: (text: string) => void): Row[] {
  return forms.map(({ form, objects, figures }) => {
    progress(`figures: a driver with ${pools} pools in ${objects} ${form}(s), ${waitingPods} waiting pods`);
    const index = clusterOf({
      Node: nodes(pools),
      StorageClass: [pooledClass],
      CSIDriver: [pooledDriver],
      ...(form === 'DriverCapacity'
        ? { DriverCapacity: poolObjects(pools, objects) }
        : { CSIStorageCapacity: capacities(pools) }),
    });
    const waiting = Array.from({ length: waitingPods }, (_, position) => refusedPod(index, position));
    const updates = Array.from({ length: 2 * figures }, (_, position) =>
      form === 'DriverCapacity'
        ? updatedPoolObject(pools, objects, position)
        : updatedCapacity(pools, position),
    );
    let woken = 0;
    const times = timeEach(figures, (repeat) => {
      const { change } = index.upsert(form, updates[repeat] as never);
      for (const refusal of waiting) if (refusal.wokenBy(change!)) woken += 1;
    });
    return { work: 'figures', form, nodes: pools, pools, objects, waitingPods, woken, ...times };
  });
}

function refusedPod(index: ClusterIndex, position: number): Refusal {
  const { pod, claims } = podWithClaims(position, 1, 'pooled');
  for (const claim of claims)
    index.upsert('PersistentVolumeClaim', {
      ...claim,
      spec: { ...claim.spec, resources: { requests: { storage: '10Ti' } } },
    });
  const answer = plan(pod, index, { nowMs: 0 });
  if (answer.kind !== 'refusal') throw new Error('the pod must not fit');
  return answer;
}
