/** A volume of the driver. */
export interface DriverVolume {
  readonly id: string;
  readonly name: string;
  readonly segment: string;
  bytes: bigint;
  /** Those of its class. `copies` says how many bytes of the pool one byte of the volume takes. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The mutable parameters of the last modification. */
  mutable?: Readonly<Record<string, string>>;
}

/** The volumes of a driver by their ids, with an index by segment: benchmarks make thousands. */
export class DriverVolumes extends Map<string, DriverVolume> {
  // Not private: the constructor of Map may call `set` before private fields exist.
  bySegment: Map<string, Set<DriverVolume>> | undefined;

  inSegment(segment: string): Iterable<DriverVolume> {
    return this.bySegment?.get(segment) ?? [];
  }

  override set(id: string, volume: DriverVolume): this {
    this.delete(id);
    this.bySegment ??= new Map();
    const others = this.bySegment.get(volume.segment) ?? new Set();
    this.bySegment.set(volume.segment, others.add(volume));
    return super.set(id, volume);
  }

  override delete(id: string): boolean {
    const volume = this.get(id);
    if (volume !== undefined) this.bySegment?.get(volume.segment)?.delete(volume);
    return super.delete(id);
  }

  override clear(): void {
    this.bySegment?.clear();
    super.clear();
  }
}
