interface WithId {
  readonly id: string;
}

/**
 * The rows by id after some of them have changed, from the rows by id before: one pass over 50,000 rows instead of sorting them again. `rows` has
 * the newest version of every row that exists.
 */
export function mergedById<T extends WithId>(
  before: readonly T[],
  changed: ReadonlySet<string>,
  rows: ReadonlyMap<string, T>,
): T[] {
  const news = [...changed].flatMap((id) => rows.get(id) ?? []).sort(byId);
  const merged: T[] = [];
  let next = 0;
  for (const row of before) {
    if (changed.has(row.id)) continue;
    while (next < news.length && news[next]!.id < row.id) merged.push(news[next++]!);
    merged.push(row);
  }
  while (next < news.length) merged.push(news[next++]!);
  return merged;
}

function byId(a: WithId, b: WithId): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
