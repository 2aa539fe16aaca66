import type { LargeOnPurpose } from './size-rules.ts';

export const largeOnPurpose: LargeOnPurpose = {
  'src/engine/cluster-index/cluster-index.ts':
    'the one object that events update and decisions read; each method passes on to a table',
  'src/engine/cluster-index/pools/pool-table.ts':
    'all pools with their lookups by class, node and volume, which one update has to change together',
  'src/engine/drives/drive-index.ts':
    'all drives with their sorted lists, which one update has to change together',
  'src/simulation/simulation.ts':
    'one run of a scenario in the order of its phases, from the first object to the probes',
};
