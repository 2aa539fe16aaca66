import type { Lease } from '../../../kube/api/coordination.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { publisherGoneText, publisherState } from '../../../kube/publisher-heartbeat.ts';
import {
  driverOfCapacity,
  ephemeralStorageClassName,
  fallbackStorageClassName,
} from '../../../kube/stowage/driver-capacity.ts';
import { annotations } from '../../../kube/well-known.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factItems, factValue } from '../facts.ts';
import { serverNowMs } from './clocks.ts';

/** Publishers measure at least once a minute; ten failures in a row are not an accident. */
const ageMsMax = 10 * 60_000;

export const capacityChecks: readonly Check[] = [
  { subject: 'the age of published capacity', needs: ['capacities'], find: objectFindings },
  { subject: 'the pools of DriverCapacity', needs: ['driverCapacities'], find: poolFindings },
  {
    subject: 'drivers that publish no capacity',
    needs: ['drivers', 'classes', 'capacities', 'driverCapacities'],
    find: missingFindings,
  },
];

function objectFindings(facts: ClusterFacts): readonly Found[] {
  const leases = new Map(factItems(facts.lists.leases).map((lease) => [keyOf(lease), lease] as const));
  return factValue(facts.lists.capacities).flatMap((one) => {
    const problem = objectProblem(one, facts, (key) => leases.get(key));
    if (problem === undefined) return [];
    const object = objectOf('CSIStorageCapacity', one);
    const detail = `of class ${textOf(one.storageClassName)} ${problem}`;
    return [{ code: 'CapacityStale', object, detail } as const];
  });
}

/** A capacity report that has not changed is not written again: while its publisher runs, it is not old. Other publishers do not say when they measured. */
function objectProblem(
  { metadata }: CSIStorageCapacity,
  { clock, nowMs }: ClusterFacts,
  leaseOf: (key: string) => Lease | undefined,
): string | undefined {
  const serverMs = 'value' in clock ? serverNowMs(clock.value, nowMs) : nowMs;
  const state = publisherState(metadata, leaseOf, serverMs);
  switch (state?.kind) {
    case 'running':
      return undefined;
    case 'failing':
      return `is not measured: ${state.problem}`;
    case 'gone':
      return `is not measured: ${publisherGoneText(state)}`;
    case undefined: {
      const age = ageText(metadata?.annotations?.[annotations.measuredAt], nowMs);
      return age && `was measured ${age}`;
    }
    default:
      return unreachable(state);
  }
}

function poolFindings({ lists, nowMs }: ClusterFacts): readonly Found[] {
  return factValue(lists.driverCapacities).flatMap((one): Found[] => {
    const object = objectOf('DriverCapacity', one);
    const fresh = getCondition(one.status?.conditions, 'Fresh');
    if (fresh?.status === 'False')
      return [
        { code: 'CapacityStale', object, detail: textOf(fresh.message) || 'its condition Fresh is False' },
      ];
    const pools = listOf(one.status?.storage).flatMap(({ storageClassName, pools }) =>
      listOf(pools).map((pool) => ({
        ...pool,
        where: `pool ${textOf(pool.name)} of class ${textOf(storageClassName)}`,
      })),
    );
    return pools.flatMap(({ where, expiryTime, measuredAt }): Found[] => {
      const expiresMs = parseTimestamp(expiryTime);
      if (expiresMs !== undefined && expiresMs <= nowMs)
        return [{ code: 'CapacityExpired', object, detail: `${where} expired at ${textOf(expiryTime)}` }];
      const age = ageText(measuredAt, nowMs);
      return age === undefined
        ? []
        : [{ code: 'CapacityStale', object, detail: `${where} was measured ${age}` }];
    });
  });
}

function ageText(measuredAt: string | undefined, nowMs: number): string | undefined {
  const measuredMs = parseTimestamp(measuredAt);
  if (measuredMs === undefined || nowMs - measuredMs <= ageMsMax) return undefined;
  return `${Math.floor((nowMs - measuredMs) / 60_000)} minutes ago`;
}

function missingFindings({ lists }: ClusterFacts): readonly Found[] {
  const tracked = new Set(
    factValue(lists.drivers)
      .filter(({ spec }) => spec?.storageCapacity === true)
      .map(({ metadata }) => textOf(metadata?.name)),
  );
  const published = new Set(
    factValue(lists.capacities).map(({ storageClassName }) => textOf(storageClassName)),
  );
  const pooled = new Map<string, Set<string>>();
  for (const one of factValue(lists.driverCapacities)) {
    const driver = driverOfCapacity(one);
    const names = listOf(one.status?.storage).map(({ storageClassName }) => textOf(storageClassName));
    pooled.set(driver, new Set([...(pooled.get(driver) ?? []), ...names]));
  }
  return factValue(lists.classes).flatMap((one) => {
    const name = textOf(one.metadata?.name);
    const driver = textOf(one.provisioner);
    const inPools = pooled.get(driver);
    const isThere = published.has(name) || inPools?.has(name) || inPools?.has(fallbackStorageClassName);
    const isWaiting = one.volumeBindingMode === 'WaitForFirstConsumer';
    if (!tracked.has(driver) || !isWaiting || isThere || name === ephemeralStorageClassName) return [];
    const detail = `${driver} publishes no capacity for it`;
    return [{ code: 'CapacityMissing', object: objectOf('StorageClass', one), detail } as const];
  });
}
