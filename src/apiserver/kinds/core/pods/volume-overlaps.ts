import type { Volume, VolumeProjection } from '../../../../kube/api/stored/core.ts';
import { goQuoted } from '../../../../kube/go/quote.ts';

/** Warns about files of one volume with the same path, or with a path below another file. */
export function overlapWarnings(volumes: readonly Volume[]): readonly string[] {
  return volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => {
    const warningsFor = (what: string, files: readonly FileAt[]): readonly string[] =>
      overlaps(files).map((overlap) => `volume ${goQuoted(name)} (${what}): overlapping paths: ${overlap}`);
    return [
      ...warningsFor(`ConfigMap ${goQuoted(configMap?.name ?? '')}`, filesOf(configMap?.items, '')),
      ...warningsFor(`Secret ${goQuoted(secret?.secretName ?? '')}`, filesOf(secret?.items, '')),
      ...warningsFor('DownwardAPI', filesOf(downwardAPI?.items, '')),
      ...(projected?.sources ?? []).flatMap((source, index, sources) => {
        if (!hasSource(source)) return [`volume ${goQuoted(name)} (Projected) has no sources provided`];
        const before = sources.slice(0, index).flatMap(projectedFiles);
        return warningsFor('Projected', [...before, ...projectedFiles(source)]).slice(
          overlaps(before).length,
        );
      }),
    ];
  });
}

interface FileAt {
  readonly path: string;
  /** The source of the file, if the volume has several sources. */
  readonly source: string;
}

function filesOf(items: readonly { readonly path: string }[] | undefined, source: string): readonly FileAt[] {
  return (items ?? []).map(({ path }) => ({ path: path.replace(/\/+$/, ''), source }));
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

function overlaps(files: readonly FileAt[]): readonly string[] {
  return files.flatMap((file, index) =>
    files
      .slice(0, index)
      .filter((other) => isOverlap(file.path, other.path))
      .map((other) => `${shown(file)} with ${shown(other)}`),
  );
}

function isOverlap(a: string, b: string): boolean {
  if (a === '' || b === '') return false;
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}

function shown({ path, source }: FileAt): string {
  return source === '' ? goQuoted(path) : `${goQuoted(path)} (${source})`;
}
