/** A small change of one source file that breaks the program. */
export interface PlantedBug {
  readonly name: string;
  /** From the root of the checkout. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The simulation has to catch the bug within the seeds 1 to `seedsMax`. */
  readonly seedsMax: number;
  /** Only seeds about this subject are simulated; `pods` if left out. */
  readonly subject?: 'pods' | 'disks';
}

export declare const plantedBugs: readonly PlantedBug[];
