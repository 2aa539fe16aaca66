import { readPod } from '../../../engine/records/pod-record.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { PodExplanation, PodVerdict } from '../explanation.ts';
import { type Cause, causeOf } from './cause.ts';
import type { AlikePods } from './pod-kinds.ts';

export interface ExplainedKind extends AlikePods {
  readonly explanation: PodExplanation;
}

export interface PendingCause extends Cause {
  readonly verdict: PodVerdict;
  /** The kinds of pods with the most pods first. */
  readonly kinds: readonly ExplainedKind[];
}

export function hasCause(verdict: PodVerdict): boolean {
  return verdict !== 'placed' && verdict !== 'fits' && verdict !== 'finished';
}

export function podCount(kinds: readonly AlikePods[]): number {
  return kinds.reduce((sum, { pods }) => sum + pods.length, 0);
}

export function groupByCause(explained: readonly ExplainedKind[]): readonly PendingCause[] {
  const byText = new Map<string, PendingCause & { readonly kinds: ExplainedKind[] }>();
  for (const kind of explained) {
    const { text, reasons } = causeOf(kind.explanation);
    const { verdict } = kind.explanation;
    const known = byText.get(`${verdict} ${text}`);
    if (known === undefined) byText.set(`${verdict} ${text}`, { text, reasons, verdict, kinds: [kind] });
    else known.kinds.push(kind);
  }
  return [...byText.values()].sort((a, b) => podCount(b.kinds) - podCount(a.kinds));
}

export function podKeyOf(pod: Pod): string {
  return readPod(pod).key;
}
