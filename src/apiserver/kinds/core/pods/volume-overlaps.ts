import type { Volume, VolumeProjection } from '../../../../kube/api/stored/core.ts';
import { goQuoted } from '../../../../kube/go/quote.ts';
import { trimmedEnd } from '../../../../kube/go/trim.ts';

/** Warns about files of one volume with the same path, or with a path below another file. */
export function overlapWarnings(volumes: readonly Volume[]): readonly string[] {
  return volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => {
    const warningsFor = (what: string, files: readonly FileAt[]): readonly string[] =>
      overlaps(files).map(([file, other]) => overlapWarning(name, what, file, other));
    return [
      ...warningsFor(`ConfigMap ${goQuoted(configMap?.name ?? '')}`, filesOf(configMap?.items, '')),
      ...warningsFor(`Secret ${goQuoted(secret?.secretName ?? '')}`, filesOf(secret?.items, '')),
      ...warningsFor('DownwardAPI', filesOf(downwardAPI?.items, '')),
      ...projectedWarnings(name, projected?.sources ?? []),
    ];
  });
}

interface FileAt {
  readonly path: string;
  /** The source of the file, if the volume has several sources. */
  readonly source: string;
}

function overlapWarning(volume: string, what: string, file: FileAt, other: FileAt): string {
  return `volume ${goQuoted(volume)} (${what}): overlapping paths: ${shown(file)} with ${shown(other)}`;
}

/** Compares each file with the files of its own source and of earlier sources. */
function projectedWarnings(volume: string, sources: readonly VolumeProjection[]): readonly string[] {
  const filesBySource = sources.map(projectedFiles);
  const bySource = new Map<FileAt, string[]>();
  for (const [file, other] of overlaps(filesBySource.flat())) {
    const warnings = bySource.get(file) ?? [];
    warnings.push(overlapWarning(volume, 'Projected', file, other));
    bySource.set(file, warnings);
  }
  return sources.flatMap((source, index) => {
    if (!hasSource(source)) return [`volume ${goQuoted(volume)} (Projected) has no sources provided`];
    return filesBySource[index]!.flatMap((file) => bySource.get(file) ?? []);
  });
}

function filesOf(items: readonly { readonly path: string }[] | undefined, source: string): readonly FileAt[] {
  return (items ?? []).map(({ path }) => ({ path: trimmedEnd(path, '/'), source }));
}

function projectedFiles({ configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection) {
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${goQuoted(configMap.name ?? '')}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${goQuoted(secret.name ?? '')}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? filesOf([serviceAccountToken], 'ServiceAccountToken') : [];
}

function hasSource(source: VolumeProjection): boolean {
  return Object.values(source).some((value) => value !== undefined);
}

/** More pairs than a response has space for warnings. */
const overlapsMax = 1000;

/**
 * Pairs of a file and an earlier one that overlaps with it, in the order of the files. Sorted by path, the files that
 * contain a file are a stack, so that only overlapping files are compared.
 */
function overlaps(files: readonly FileAt[]): readonly (readonly [FileAt, FileAt])[] {
  const sorted = files
    .map((file, index) => ({ file, index, key: `${file.path}/` }))
    .filter(({ file }) => file.path !== '')
    .sort((a, b) => (a.key === b.key ? a.index - b.index : a.key < b.key ? -1 : 1));
  const stack: typeof sorted = [];
  const pairs: { readonly later: number; readonly earlier: number }[] = [];
  for (const each of sorted) {
    while (stack.length > 0 && !each.key.startsWith(stack.at(-1)!.key)) stack.pop();
    for (const other of stack) {
      if (pairs.length >= overlapsMax) break;
      pairs.push({ later: Math.max(each.index, other.index), earlier: Math.min(each.index, other.index) });
    }
    stack.push(each);
  }
  return pairs
    .sort((a, b) => a.later - b.later || a.earlier - b.earlier)
    .map(({ later, earlier }) => [files[later]!, files[earlier]!]);
}

function shown({ path, source }: FileAt): string {
  return source === '' ? goQuoted(path) : `${goQuoted(path)} (${source})`;
}
