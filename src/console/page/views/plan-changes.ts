import type { PageStore } from '../store.ts';

/** One change of a plan, written as a flag of `stowage plan`. */
export interface PlanChange {
  readonly flag: 'drain' | 'replicas' | 'add-drive' | 'add-nodes';
  readonly value: string;
  /** Only for `add-nodes`. */
  readonly like: string;
}

const suggestionsMax = 30;

/** Values that begin with, or contain, what was typed. */
export function suggestionsFor(
  store: PageStore,
  flag: PlanChange['flag'] | 'like',
  typed: string,
): readonly string[] {
  const found: string[] = [];
  const text = typed.trim().toLowerCase();
  for (const value of valuesFor(store, flag)) {
    if (!value.toLowerCase().includes(text)) continue;
    found.push(value);
    if (found.length === suggestionsMax) break;
  }
  return found;
}

function* valuesFor(store: PageStore, flag: PlanChange['flag'] | 'like'): Iterable<string> {
  switch (flag) {
    case 'drain':
      for (const { id } of store.all('node')) yield `node/${id}`;
      for (const { source, name } of store.all('pool')) if (source === 'Drive') yield `drive/${name}`;
      return;
    case 'replicas': {
      const seen = new Set<string>();
      for (const { namespace, owner } of store.all('pod')) {
        if (!owner.startsWith('StatefulSet/')) continue;
        const value = `sts/${namespace}/${owner.slice('StatefulSet/'.length)}=`;
        if (!seen.has(value)) yield value;
        seen.add(value);
      }
      return;
    }
    case 'add-drive':
      for (const { id } of store.all('node')) yield `${id}=`;
      return;
    case 'like':
      for (const { id } of store.all('node')) yield id;
      return;
    case 'add-nodes':
  }
}
