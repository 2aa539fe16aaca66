import type { OtherCost } from '../../engine/drift/drift-of.ts';
import { type ClassDisks, otherCostOf } from '../../engine/drift/other-cost.ts';
import { backingPoolOf } from '../../engine/records/backing-pool.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { type CompiledNodeSelector, matchesRequirement } from '../../kube/selectors/node-selector.ts';
import { compileTopologySelector } from '../../kube/selectors/topology-selector.ts';
import { sortedKeys } from '../../kube/sorted-keys.ts';
import { ephemeralStorageClassName } from '../../kube/stowage/driver-capacity.ts';
import { isDelayedBinding } from '../../kube/volumes.ts';
import { digest } from '../published-names.ts';
import { capacityReportKeyOf } from './capacity-report-id.ts';
import type { CapacityReportDisks } from './capacity-report-store.ts';
import { segmentKeyOf, segmentOfKey, type TopologySegment } from './topology-segment.ts';

/** Which capacity reports a driver needs: one for each class and topology segment. */
export class DesiredCapacityReports {
  readonly #options: DesiredCapacityReportsOptions;
  readonly #classes = new Map<string, DesiredClass>();
  /** The key is that of the segment. */
  readonly #segments = new Map<string, TopologySegment>();
  #listed: readonly TopologySegment[] | undefined;
  readonly #goneAtMs = new Map<string, number>();

  constructor(options: DesiredCapacityReportsOptions) {
    this.#options = options;
  }

  get segmentKeys(): Iterable<string> {
    return this.#segments.keys();
  }

  get segments(): readonly TopologySegment[] {
    this.#listed ??= [...this.#segments.values()];
    return this.#listed;
  }

  get hasSegments(): boolean {
    return this.#segments.size > 0;
  }

  /** The number of reports. */
  get size(): number {
    return [...this.#segments.keys()].reduce((sum, key) => sum + this.keysIn(key).length, 0);
  }

  hasSegment(segmentKey: string): boolean {
    return this.#segments.has(segmentKey);
  }

  /** The segments of nodes with these labels; labels that are not given may have any value. */
  *segmentKeysOf(labels: TopologySegment): Iterable<string> {
    const used = sortedKeys(this.segments[0] ?? {}).filter((key) => labels[key] !== undefined);
    const exact = segmentKeyOf(Object.fromEntries(used.map((key) => [key, labels[key]!])));
    // The usual case, in which all segments have the same keys, needs no iteration.
    if (this.#segments.has(exact)) {
      yield exact;
      return;
    }
    for (const [segmentKey, segment] of this.#segments)
      if (Object.entries(segment).every(([key, value]) => (labels[key] ?? value) === value)) yield segmentKey;
  }

  /** When the segment went; undefined if it has not been seen since the start. */
  goneAtMs(segmentKey: string): number | undefined {
    return this.#goneAtMs.get(segmentKey);
  }

  addSegment(segmentKey: string): void {
    this.#segments.set(segmentKey, segmentOfKey(segmentKey));
    this.#listed = undefined;
    this.#goneAtMs.delete(segmentKey);
  }

  removeSegment(segmentKey: string, nowMs: number): void {
    this.#listed = undefined;
    if (this.#segments.delete(segmentKey)) this.#goneAtMs.set(segmentKey, nowMs);
  }

  /** The segment's objects are removed: nothing of it is left to remember. */
  forgetSegment(segmentKey: string): void {
    this.#goneAtMs.delete(segmentKey);
  }

  /** Whether the class needs reports of this driver. */
  setClass(storageClass: StorageClass): boolean {
    const name = storageClass.metadata?.name ?? '';
    const { driver, forImmediateBinding } = this.#options;
    const isWanted =
      storageClass.provisioner === driver && (forImmediateBinding || isDelayedBinding(storageClass));
    const allowed = compileTopologySelector(storageClass.allowedTopologies);
    const parameters = parametersOf(storageClass);
    const backing = backingPoolOf(storageClass);
    if (isWanted) this.#classes.set(name, { storageClass, allowed, parameters, backing });
    else this.#classes.delete(name);
    return isWanted;
  }

  removeClass(name: string): void {
    this.#classes.delete(name);
  }

  classOf(name: string): StorageClass | undefined {
    return this.#classes.get(name)?.storageClass;
  }

  /**
   * GetCapacity depends on the parameters and the segment only, so two classes with the same parameters use the same disks. Of classes with
   * different parameters that is not known.
   */
  disksOf(storageClassName: string): CapacityReportDisks {
    const parameters = this.#classes.get(storageClassName)?.parameters ?? '';
    return { parameters, isShared: this.classesOnDisks(parameters).length > 1 };
  }

  /** The bytes by which volumes of other classes reduce the reports of a class; see `otherCostOf`. */
  otherCost(storageClassName: string): OtherCost | undefined {
    const own = this.#classes.get(storageClassName);
    if (own === undefined) return undefined;
    return otherCostOf(
      own,
      [...this.#classes.values()].filter((other) => other !== own),
    );
  }

  /** The classes with these parameters. */
  classesOnDisks(parameters: string): readonly string[] {
    return [...this.#classes].filter(([, known]) => known.parameters === parameters).map(([name]) => name);
  }

  isWanted(storageClassName: string, segmentKey: string): boolean {
    const segment = this.#segments.get(segmentKey);
    if (segment === undefined) return false;
    if (storageClassName === ephemeralStorageClassName) return this.#options.forEphemeral();
    const known = this.#classes.get(storageClassName);
    if (known === undefined || !this.#options.forClasses()) return false;
    return known.allowed === undefined || mayMatch(known.allowed, segment);
  }

  /** The keys of all reports of a segment. */
  keysIn(segmentKey: string): readonly string[] {
    const segment = this.#segments.get(segmentKey);
    if (segment === undefined) return [];
    return [...this.#classes.keys(), ephemeralStorageClassName]
      .filter((name) => this.isWanted(name, segmentKey))
      .map((storageClassName) => capacityReportKeyOf({ storageClassName, segment }));
  }

  /** The keys of all reports of a class. */
  *keysOf(storageClassName: string): Iterable<string> {
    for (const [segmentKey, segment] of this.#segments) {
      if (this.isWanted(storageClassName, segmentKey))
        yield capacityReportKeyOf({ storageClassName, segment });
    }
  }
}

export interface DesiredCapacityReportsOptions {
  readonly driver: string;
  readonly forEphemeral: () => boolean;
  readonly forImmediateBinding: boolean;
  /** False if the driver serves inline volumes only. */
  readonly forClasses: () => boolean;
}

interface DesiredClass extends ClassDisks {
  readonly storageClass: StorageClass;
  /** Its allowed topologies; undefined: all. */
  readonly allowed: CompiledNodeSelector | undefined;
}

/** Parameters with this prefix are Kubernetes' own: they choose no disks. */
const reservedPrefix = 'csi.storage.k8s.io/';

/** A hash of those that are the driver's own; empty if there are none. */
function parametersOf({ parameters = {} }: StorageClass): string {
  const own = sortedKeys(parameters).filter((key) => !key.startsWith(reservedPrefix));
  return own.length === 0 ? '' : digest(JSON.stringify(own.map((key) => [key, parameters[key]])));
}

/**
 * False if the selector excludes every node of the segment. That is certain only by labels that the segment has: a term about other labels
 * may fit some of its nodes.
 */
export function mayMatch({ terms }: CompiledNodeSelector, segment: TopologySegment): boolean {
  return terms.some(({ requirements }) =>
    requirements.every(
      (requirement) => segment[requirement.key] === undefined || matchesRequirement(requirement, segment),
    ),
  );
}
