import { type NodeReason, nodeReasons, type ReasonText } from '../reasons.ts';

/*
 * Why one node was rejected, packed into one number, because there is one for every node. The upper bits have the position of the rule in
 * the plan, the next bit says whether the verdict is unresolvable (preemption can't help), and the lower bits are the rule's reasons by
 * position in its own list. 0 means that the node was not rejected.
 */

/** At most 127 rules with 23 reasons each. */
const ruleShift = 24;
const unresolvableBit = 1 << 23;
const reasonMask = unresolvableBit - 1;

/** `reasons`: bits by position in the rule's own list. */
export function packVerdict(rulePosition: number, reasons: number): number {
  return ((rulePosition + 1) << ruleShift) | reasons;
}

/** For reasons that would hold even if the node were empty. */
export function packUnresolvableVerdict(rulePosition: number, reasons: number): number {
  return packVerdict(rulePosition, reasons | unresolvableBit);
}

/** The position in the plan of the rule that rejected the node. */
export function rulePositionOf(verdict: number): number {
  return (verdict >> ruleShift) - 1;
}

/** `all`: the reasons of the rule that rejected the node. */
export function reasonsIn(verdict: number, all: readonly NodeReason[]): NodeReason[] {
  return all.filter((_, position) => isSet(verdict, position));
}

export function hasReason(verdict: number, all: readonly NodeReason[], reason: NodeReason): boolean {
  const position = all.indexOf(reason);
  return position >= 0 && isSet(verdict, position);
}

/** Whether other pods may be the only obstacle on the node, so that evicting some could help. */
export function mayPreemptionHelp(verdict: number, all: readonly NodeReason[]): boolean {
  if ((verdict & unresolvableBit) !== 0) return false;
  return all.every((reason, position) => !isSet(verdict, position) || isResolvable(reason));
}

function isSet(verdict: number, position: number): boolean {
  return (verdict & reasonMask & (1 << position)) !== 0;
}

function isResolvable(reason: NodeReason): boolean {
  const text: ReasonText = nodeReasons[reason];
  return text.resolvableByPreemption === true;
}
