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
  readonly metadata?: { readonly managedFields?: readonly ManagerEntry[] };
}

interface ManagerEntry {
  readonly manager?: string;
  readonly subresource?: string;
}

/** The manager whose entry of managedFields is new or has changed. A writer takes fields over from others, so of several its entry has grown most. */
function writerOf(before: WithManagers | undefined, after: WithManagers): string {
  const old = new Map((before?.metadata?.managedFields ?? []).map((entry) => [nameOf(entry), textOf(entry)]));
  const growth = (entry: ManagerEntry) => textOf(entry).length - (old.get(nameOf(entry)) ?? '').length;
  const changed = (after.metadata?.managedFields ?? []).filter(
    (entry) => old.get(nameOf(entry)) !== textOf(entry),
  );
  const [writer] = changed.sort((a, b) => growth(b) - growth(a));
  return writer?.manager === undefined ? '' : ` by ${writer.manager}`;
}

function nameOf({ manager = '', subresource = '' }: ManagerEntry): string {
  return `${manager}/${subresource}`;
}

function textOf(entry: ManagerEntry): string {
  return JSON.stringify(entry);
}
