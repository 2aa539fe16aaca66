import type { PlantedBug } from './planted-bugs.mjs';

export declare function mutatedSource(root: string, bug: PlantedBug): string;
export declare function compileMutations(
  root: string,
  bugs: readonly PlantedBug[],
  folder: string,
): readonly string[];
