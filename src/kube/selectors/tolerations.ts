import type { Taint, TaintEffect, Toleration } from '../api/core.ts';
import { listOf, textOf } from '../wire.ts';
import { parseInt64 } from './int64.ts';

export interface TolerationOptions {
  /** Whether `Lt` and `Gt` are enabled. In Kubernetes 1.36 they are alpha and off; disabled, they tolerate nothing. */
  readonly comparisonOperators?: boolean;
}

/**
 * The first taint with one of `effects` that no toleration covers. kube-scheduler filters by NoSchedule and NoExecute
 * and scores by PreferNoSchedule.
 */
export function findUntoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly TaintEffect[],
  options: TolerationOptions = {},
): Taint | undefined {
  for (const taint of listOf(taints)) {
    if (taint?.effect === undefined || !effects.includes(taint.effect)) continue;
    if (!listOf(tolerations).some((toleration) => toleratesTaint(toleration, taint, options))) return taint;
  }
  return undefined;
}

/** Empty key and effect match all; an empty operator means Equal, and then an absent value is the empty one. */
export function toleratesTaint(
  toleration: Toleration,
  taint: Taint,
  options: TolerationOptions = {},
): boolean {
  const effect = textOf(toleration?.effect);
  if (effect !== '' && effect !== textOf(taint?.effect)) return false;
  const key = textOf(toleration?.key);
  if (key !== '' && key !== textOf(taint?.key)) return false;
  switch (toleration?.operator ?? '') {
    case '':
    case 'Equal':
      return textOf(toleration?.value) === textOf(taint?.value);
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt':
      return options.comparisonOperators === true && comparesWith(toleration, taint);
    default:
      return false;
  }
}

/** The taint's value is the left operand: `Lt 5` tolerates a taint with the value 4. */
function comparesWith(toleration: Toleration, taint: Taint): boolean {
  const bound = parseCanonicalInt64(textOf(toleration.value));
  const value = parseCanonicalInt64(textOf(taint?.value));
  if (bound === undefined || value === undefined) return false;
  return toleration.operator === 'Lt' ? value < bound : value > bound;
}

/** Stricter than {@link parseInt64}: no plus sign, no leading zeros, no minus zero. */
function parseCanonicalInt64(text: string): bigint | undefined {
  const value = parseInt64(text);
  return value !== undefined && String(value) === text ? value : undefined;
}
