import type { Scenario } from '../scenario.ts';
import { lifecycle } from './lifecycle.ts';
import { coreSamples } from './samples-core.ts';
import { otherSamples } from './samples-others.ts';
import { storageSamples } from './samples-storage.ts';
import { workloadSamples } from './samples-workloads.ts';

/** All scenarios by theme; each theme has a transcript of its own. */
export const corpus: Readonly<Record<string, readonly Scenario[]>> = {
  'lives-of-storage': storageSamples.map(lifecycle),
  'lives-of-core': coreSamples.map(lifecycle),
  'lives-of-workloads': workloadSamples.map(lifecycle),
  'lives-of-others': otherSamples.map(lifecycle),
};
