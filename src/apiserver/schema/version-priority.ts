/**
 * Compares versions by Kubernetes' priority, highest first: `v2`, `v1`, `v1beta2`, `v1alpha1`, then all others by name.
 */
export function compareVersionPriority(a: string, b: string): number {
  const [first, second] = [rankOf(a), rankOf(b)];
  for (const [index, rank] of first.entries()) {
    const difference = (second[index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function rankOf(version: string): readonly number[] {
  const [isKnown, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (isKnown === undefined) return [0, 0, 0];
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
}
