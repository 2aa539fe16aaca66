import { isLabelKey, isLabelValue } from '../../kube/selectors/label-syntax.ts';
import { accessTierNames } from '../../kube/stowage/drive.ts';
import { usage } from '../errors/cli-error.ts';

/** Null removes the label, as in a merge patch. */
export type LabelChanges = Readonly<Record<string, string | null>>;

/** Parses `k=v` and `k-`. */
export function labelChangesIn(texts: readonly string[]): LabelChanges {
  const changes: Record<string, string | null> = {};
  for (const text of texts) {
    const [key, value] = oneChange(text);
    requireFreeKey(key);
    if (Object.hasOwn(changes, key)) throw usage(`label ${key}: is given twice`);
    changes[key] = value;
  }
  return changes;
}

/** Parses the values of `--label`. */
export function labelsIn(texts: readonly string[] = []): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(labelChangesIn(texts))) {
    if (value === null) throw usage(`--label: "${key}-" must be KEY=VALUE`);
    labels[key] = value;
  }
  return labels;
}

function oneChange(text: string): readonly [string, string | null] {
  const at = text.indexOf('=');
  if (at < 0 && text.endsWith('-')) return [text.slice(0, -1), null];
  if (at < 0) throw usage(`label "${text}": must be KEY=VALUE, or KEY- to remove it`);
  const value = text.slice(at + 1);
  if (!isLabelValue(value))
    throw usage(`label "${text}": the value may have up to 63 letters, digits, -, _ and .`);
  return [text.slice(0, at), value];
}

/** Labels of Stowage and Kubernetes have a fixed meaning. */
function requireFreeKey(key: string): void {
  if (!isLabelKey(key))
    throw usage(`label "${key}": the key must be a name of up to 63 letters, digits, -, _ and .`);
  const [prefix = ''] = key.includes('/') ? key.split('/') : [];
  if (/(^|\.)(stowage\.dev|kubernetes\.io|k8s\.io)$/.test(prefix))
    throw usage(`label ${key}: labels of ${prefix} are reserved; choose another key`);
}

/** Tiers are accepted in any case, as in DirectPV. */
export function accessTierOf(text: string, flag = 'tier'): string {
  const tier = accessTierNames.find((name) => name.toLowerCase() === text.toLowerCase());
  if (tier === undefined) throw usage(`${flag}: "${text}" must be one of ${accessTierNames.join(', ')}`);
  return tier;
}
