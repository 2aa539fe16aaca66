import type { StoredVersion } from './invariants/invariant.ts';

const ignored: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion', 'generation']);
const changesMax = 6;
const valueLengthMax = 80;

/** `r118 persistentvolumes/v1 by scheduler-0: spec.claimRef={"name":"data"}`: what one version changed. */
export function versionText({ resource, key, revision, before, after }: StoredVersion): string {
  const object = `r${revision} ${resource}/${key}`;
  if (after === undefined) return `${object} removed`;
  const writer = writerOf(before, after);
  if (before === undefined) return `${object} created${writer}`;
  const changes = changesOf('', before, after);
  const shown = changes.slice(0, changesMax).join(', ');
  return `${object}${writer}: ${shown}${changes.length > changesMax ? ', …' : ''}`;
}

type Tree = Readonly<Record<string, unknown>>;

function changesOf(path: string, before: unknown, after: unknown): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isTree(before) || !isTree(after)) return [`${path}=${valueText(after)}`];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !ignored.has(name))
    .flatMap((name) => changesOf(path === '' ? name : `${path}.${name}`, before[name], after[name]));
}

function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(value);
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface WithManagers {
  readonly metadata?: { readonly managedFields?: readonly { readonly manager?: string }[] };
}

/** The manager whose entry of managedFields is new or has changed. */
function writerOf(before: WithManagers | undefined, after: WithManagers): string {
  const old = new Set((before?.metadata?.managedFields ?? []).map((entry) => JSON.stringify(entry)));
  const changed = after.metadata?.managedFields?.find((entry) => !old.has(JSON.stringify(entry)));
  return changed?.manager === undefined ? '' : ` by ${changed.manager}`;
}
