import { compareQuantities, parseQuantity } from '../../kube/quantities/quantity.ts';
import { isRecord } from '../../kube/wire.ts';

/** The lists of a pod template that `kubectl apply` merges, with the field that identifies an item. All other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
  topologySpreadConstraints: 'topologyKey',
};

/** Such an item keeps only the applied fields: a volume has one source. */
const replacedItems: ReadonlySet<string> = new Set(['volumes']);

/**
 * The stored value after `kubectl apply` of another: fields of the file are set, fields of the last applied file that the file no longer has are removed, and the rest,
 * such as defaults, stays. An amount in another notation is not a change.
 */
export function mergeApplied(stored: unknown, applied: unknown, last?: unknown): unknown {
  return merged({ stored, applied, last }, { field: '', isTemplate: false });
}

interface Versions {
  readonly stored: unknown;
  readonly applied: unknown;
  readonly last: unknown;
}

interface Place {
  readonly field: string;
  /** Inside a pod template. */
  readonly isTemplate: boolean;
}

function merged({ stored, applied, last }: Versions, { field, isTemplate }: Place): unknown {
  if (Array.isArray(applied))
    return isTemplate && Object.hasOwn(mergeKeys, field)
      ? mergedList({ stored, applied, last }, field)
      : applied;
  if (!isRecord(applied) || !isRecord(stored)) return applied;
  const isAmounts = field === 'requests' || field === 'limits';
  const before = isRecord(last) ? last : {};
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(stored))
    if (Object.hasOwn(applied, key) || !Object.hasOwn(before, key)) result[key] = value;
  for (const [key, value] of Object.entries(applied)) {
    const place = { field: key, isTemplate: isTemplate || key === 'template' };
    const isSame = isAmounts && isSameAmount(stored[key], value);
    const versions = { stored: stored[key], applied: value, last: before[key] };
    result[key] = isSame ? stored[key] : merged(versions, place);
  }
  return result;
}

function mergedList({ stored, applied, last }: Versions, field: string): unknown {
  const key = mergeKeys[field]!;
  const idOf = (item: unknown) => (isRecord(item) ? item[key] : undefined);
  const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  const find = (items: unknown, id: unknown) => itemsOf(items).find((item) => idOf(item) === id);
  const kept = itemsOf(stored).filter(
    (item) => find(applied, idOf(item)) !== undefined || find(last, idOf(item)) === undefined,
  );
  const changed = kept.map((item) => {
    const wanted = find(applied, idOf(item));
    if (wanted === undefined) return item;
    if (replacedItems.has(field) && !hasSameFields(item, wanted)) return wanted;
    const versions = { stored: item, applied: wanted, last: find(last, idOf(item)) };
    return merged(versions, { field: '', isTemplate: true });
  });
  return [...changed, ...itemsOf(applied).filter((item) => find(kept, idOf(item)) === undefined)];
}

function hasSameFields(a: unknown, b: unknown): boolean {
  const fields = (value: unknown) => (isRecord(value) ? Object.keys(value).sort().join() : '');
  return fields(a) === fields(b);
}

function isSameAmount(a: unknown, b: unknown): boolean {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) === 0;
}
