import { type AnyRule, eraseState } from '../rules/framework/rule.ts';

/** Refuses every node but one, so that a plan shows what the rules after it decide about that node. */
export function onlyNodeRule(nodeName: string): AnyRule {
  return eraseState<undefined>({
    name: 'OnlyNode',
    reasons: ['SearchBoundReached'],
    prepare: () => ({ kind: 'ready', state: undefined }),
    filter: (_, cycle) => {
      for (const row of cycle.index.nodes.rowsByName)
        if (cycle.index.nodes.record(row)!.key !== nodeName) cycle.reject(row, 1);
    },
    explain: () => [],
    wakes: () => false,
    invalidates: () => false,
  });
}
