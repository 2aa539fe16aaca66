import type { Scenario } from '../scenario.ts';
import { lifecycle } from './lifecycle.ts';
import { storageSamples } from './samples-storage.ts';

/** All scenarios by theme; each theme has a transcript of its own. */
export const corpus: Readonly<Record<string, readonly Scenario[]>> = {
  storage: storageSamples.map(lifecycle),
};
