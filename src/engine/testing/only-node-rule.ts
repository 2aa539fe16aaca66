import { type AnyRule, eraseState } from '../rules/framework/rule.ts';

/** Leaves one node to the rules behind it, so that a plan says what it thinks of that node. */
export function onlyNodeRule(nodeName: string): AnyRule {
  return eraseState<undefined>({
    name: 'OnlyOn',
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
