import { capacityReportAgeText } from '../pools/capacity-report-source.ts';
import { PoolReader } from '../pools/pool-reader.ts';
import type { PoolLine } from './explanation.ts';
import type { PodQuestion } from './pod-question.ts';

/** More pools do not help a reader: the closest come first. */
const poolsMax = 5;

/** The usage of pools, each once, in this order; undefined if there are none. Reading them visits all volumes, so overviews leave them out. */
export function poolLines(
  keys: readonly (string | undefined)[],
  { view, index, nowMs, skipsRemedies }: PodQuestion,
): readonly PoolLine[] | undefined {
  const pools = [...new Set(keys)]
    .slice(0, poolsMax)
    .flatMap((key) => (key === undefined ? [] : (index.pools.get(key) ?? [])));
  if (pools.length === 0 || skipsRemedies === true) return undefined;
  const reader = new PoolReader(view, index, nowMs);
  return pools.map((record) => {
    const { pool, storageClass, total, used, promised, free, measuredAt, publishedBy, publisher } =
      reader.read(record);
    const age =
      measuredAt === undefined ? undefined : capacityReportAgeText({ measuredAt, publisher }, nowMs);
    return { pool, storageClass, total, used, promised, free, measuredAt, age, publishedBy, publisher };
  });
}
