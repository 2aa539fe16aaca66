import type { PlantedBug } from './planted-bugs.mjs';

export interface CatchOptions {
  /** The folder of the compiled program. */
  readonly build: string;
  /** The compiled file with the bug. */
  readonly mutated: string;
  readonly baseline: Baseline;
  /** Default: 1. */
  readonly firstSeed?: number;
}

export interface CatchResult {
  readonly bug: PlantedBug;
  readonly isCaught: boolean;
  /** Seeds that were simulated with the bug. */
  readonly seeds: number;
  /** Seeds that show a violation without the bug as well; they do not count. */
  readonly dirtySeeds: number;
  /** The seed that caught it, and what was broken. */
  readonly seed?: number;
  readonly invariant?: string;
  readonly detail?: string;
  /** Why it was not caught. */
  readonly ending?: string;
}

export declare function catchPlantedBug(bug: PlantedBug, options: CatchOptions): Promise<CatchResult>;

export declare class Baseline {
  constructor(build: string);
  isClean(seed: number): Promise<boolean>;
  get knownDirty(): string;
}
