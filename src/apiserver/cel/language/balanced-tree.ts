/** `a && b && c && ...` as a tree of small depth: `join` creates a node from the operator's id and two sides. */
export function balancedTree<T>(
  terms: readonly T[],
  ids: readonly number[],
  join: (id: number, left: T, right: T) => T,
): T {
  const term = (index: number): T => terms[index] as T;
  const between = (low: number, high: number): T => {
    const middle = Math.trunc((low + high + 1) / 2);
    const left = middle === low ? term(middle) : between(low, middle - 1);
    const right = middle === high ? term(middle + 1) : between(middle + 1, high);
    return join(ids[middle] ?? 0, left, right);
  };
  return ids.length === 0 ? term(0) : between(0, ids.length - 1);
}
