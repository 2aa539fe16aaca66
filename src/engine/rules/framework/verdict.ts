import { type NodeReason, nodeReasons, type ReasonText } from '../reasons.ts';

/*
 * What one node was rejected for, in one number, since there is one for every node: the rule in the upper bits, by its place in the
 * plan, then whether it is for good, then the rule's reasons by their places in its own list. 0: it was not rejected.
 */

/** Up to 23 reasons a rule, up to 127 rules. */
const ruleShift = 24;
const unresolvableBit = 1 << 23;
const reasonMask = unresolvableBit - 1;

/** `reasons`: bits by position in the rule's own list. */
export function packVerdict(rulePosition: number, reasons: number): number {
  return ((rulePosition + 1) << ruleShift) | reasons;
}

/** Whatever the reasons say in general, they would stand even if the node were empty. */
export function packUnresolvableVerdict(rulePosition: number, reasons: number): number {
  return packVerdict(rulePosition, reasons | unresolvableBit);
}

/** The place in the plan of the rule that rejected the node. */
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

/** Whether nothing but other pods may be in the way on the node, so that evicting some could help. */
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
