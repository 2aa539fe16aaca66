/** The layers inside src/engine, from the bottom up. `src/engine/README.md` describes them. */
export const engineLayers: readonly (readonly string[])[] = [
  ['size.ts', 'maps.ts', 'workloads', 'expansion'],
  ['drives', 'disks'],
  ['records'],
  ['cluster-index', 'drift'],
  ['rules'],
  ['evaluation', 'waking', 'claim-match.ts'],
  ['refusal'],
  ['plan.ts', 'explain'],
  ['assess.ts', 'ledger', 'preemption'],
  ['remedies'],
  ['what-if', 'headroom'],
  ['index.ts'],
  ['testing'],
  ['properties'],
];
