import type { NodeReason } from '../reasons.ts';
import type { Finding } from './finding.ts';

/** A finding that has no volumes, pools or numbers to show. */
export function plainFinding(rule: string, reason: NodeReason, claim?: string): Finding {
  return { rule, reason, claim, candidates: [], omitted: 0, margin: undefined };
}
