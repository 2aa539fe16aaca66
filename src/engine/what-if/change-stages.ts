import type { WhatIfChange } from './change.ts';

/** Changes in the order in which they are made; what is drained is closed from the start, and emptied at last. */
interface ChangeStages {
  readonly additions: readonly WhatIfChange[];
  readonly others: readonly WhatIfChange[];
  readonly drains: readonly WhatIfChange[];
}

export function stagesOf(changes: readonly WhatIfChange[]): ChangeStages {
  const wanted = withLastScales(changes);
  const of = (...kinds: readonly WhatIfChange['kind'][]) => wanted.filter(({ kind }) => kinds.includes(kind));
  return {
    additions: of('add-nodes', 'add-drive'),
    others: of('scale', 'apply'),
    drains: of('drain-node', 'drain-drive'),
  };
}

/** A workload has the replicas that were asked for last. */
function withLastScales(changes: readonly WhatIfChange[]): readonly WhatIfChange[] {
  const last = new Map<string, WhatIfChange>();
  for (const change of changes)
    if (change.kind === 'scale') last.set(JSON.stringify(change.workload), change);
  return changes.filter(
    (change) => change.kind !== 'scale' || last.get(JSON.stringify(change.workload)) === change,
  );
}
