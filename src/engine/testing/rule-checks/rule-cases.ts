/** Helpers for tests of one rule: its verdict about a pod, wake-up cases, and builders for nodes and pods. */
import { expect, test } from 'vitest';
import type { Node, Pod } from '../../../kube/api/core.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { plan } from '../../plan.ts';
import type { Refusal } from '../../refusal/refusal.ts';
import type { AnyRule } from '../../rules/framework/rule.ts';
import { type ClusterObjects, clusterOf } from '../cluster.ts';
import type { IndexEvent } from '../index-events.ts';
import { byName, node, pod } from '../objects.ts';

export function nodeWithFields(name: string, rest: Partial<Node>, labels: Record<string, string> = {}): Node {
  return { ...node(name, labels), ...rest };
}

export function podWithSpec(spec: Pod['spec'], name = 'p'): Pod {
  const target = pod(name, []);
  return { ...target, spec: { ...target.spec, ...spec } };
}

/** `fits`, or the message of the refusal. */
export function ruleVerdict(rule: AnyRule, index: ClusterIndex, target: Pod): string {
  const answer = plan(target, index, { nowMs: 0, rules: [rule] });
  return answer.kind === 'placement' ? 'fits' : answer.message;
}

export function expectRuleRefusal(rule: AnyRule, index: ClusterIndex, target: Pod): Refusal {
  const answer = plan(target, index, { nowMs: 0, rules: [rule] });
  return answer.kind === 'refusal' ? answer : expect.fail(`placed on ${answer.node}`);
}

export interface RuleWakeCase {
  readonly name: string;
  readonly cluster: ClusterObjects;
  readonly pod: Pod;
  readonly event: IndexEvent;
  readonly wakes: boolean;
}

/** An event that makes the pod fit must always wake it. */
export function expectRuleWakeCases(rule: AnyRule, cases: readonly RuleWakeCase[]): void {
  test.each(byName(cases))('%s', (_, { cluster, pod: target, event, wakes }) => {
    const index = clusterOf(cluster);
    const refusal = expectRuleRefusal(rule, index, target);
    const change = event(index);
    expect(change !== undefined && refusal.wokenBy(change)).toBe(wakes);
    if (!wakes) expect(ruleVerdict(rule, index, target)).not.toBe('fits');
  });
}
