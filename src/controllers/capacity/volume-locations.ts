import type { PersistentVolume } from '../../kube/api/core.ts';
import type { CompiledNodeSelector } from '../../kube/selectors/node-selector.ts';
import { volumeNodeSelector } from '../../kube/volumes.ts';
import { type DesiredCapacityReports, mayMatch } from './desired-capacity-reports.ts';
import { segmentKeyOf, segmentOfKey } from './topology-segment.ts';

/** The topology segments of each volume of a driver: their capacity reports change with the volume. */
export class VolumeLocations {
  readonly #driver: string;
  readonly #desired: DesiredCapacityReports;
  readonly #byHandle = new Map<string, readonly string[]>();

  constructor(driver: string, desired: DesiredCapacityReports) {
    this.#driver = driver;
    this.#desired = desired;
  }

  /** The keys of the segments; none for a volume of another driver. */
  set(volume: PersistentVolume): readonly string[] {
    const handle = this.#handleOf(volume);
    if (handle === undefined) return [];
    const segments = this.#segmentsOf(volumeNodeSelector(volume));
    this.#byHandle.set(handle, segments);
    return segments;
  }

  remove(volume: PersistentVolume): readonly string[] {
    const handle = this.#handleOf(volume);
    if (handle === undefined) return [];
    const segments = this.ofHandle(handle);
    this.#byHandle.delete(handle);
    return segments ?? [];
  }

  /** Undefined if no PersistentVolume has the handle. */
  ofHandle(handle: string): readonly string[] | undefined {
    return this.#byHandle.get(handle);
  }

  #handleOf({ spec }: PersistentVolume): string | undefined {
    return spec?.csi?.driver === this.#driver ? (spec.csi.volumeHandle ?? '') : undefined;
  }

  #segmentsOf(selector: CompiledNodeSelector | undefined): readonly string[] {
    if (selector === undefined) return [...this.#desired.segmentKeys];
    const named = selector.terms.map((term) => namedSegment(term));
    if (named.every((key) => key !== undefined && this.#desired.hasSegment(key))) return named as string[];
    const known = [...this.#desired.segmentKeys].filter((key) => mayMatch(selector, segmentOfKey(key)));
    // The node of a segment may be about to register: its first report has to be newer than the volume, too.
    return [...new Set([...known, ...named.flatMap((key) => key ?? [])])];
  }
}

/** The segment of a term that names one value for each label, as drivers' volumes have it. It saves a walk over all segments. */
function namedSegment({ requirements }: CompiledNodeSelector['terms'][number]): string | undefined {
  const isPlain = requirements.every(({ operator, values }) => operator === 'In' && values.size === 1);
  if (!isPlain) return undefined;
  return segmentKeyOf(Object.fromEntries(requirements.map(({ key, values }) => [key, [...values][0] ?? ''])));
}
