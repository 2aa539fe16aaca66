import type { WhatIfChange } from '../../engine/what-if/change.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { textOf } from '../../kube/wire.ts';
import { kindResources } from '../../state/kind-resources.ts';
import { CliError } from '../errors/cli-error.ts';
import { loadObjects } from '../source/load-files.ts';

const otherNamespaced: ReadonlySet<string> = new Set(['Deployment', 'Job', 'CronJob', 'DaemonSet']);

/** The objects of `--apply`; throws a CliError if there are none. */
export function readApplied(paths: readonly string[]): readonly KubeObject[] {
  const objects = loadObjects(paths);
  if (objects.length === 0)
    throw new CliError(`--apply: there are no objects in ${paths.map(sourceText).join(', ')}`);
  return objects;
}

function sourceText(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The change that applying the objects would be. Those without a namespace get the given one, as kubectl does it. */
export function applyChange(
  objects: readonly KubeObject[],
  namespace: string,
): Extract<WhatIfChange, { readonly kind: 'apply' }> {
  // The objects that pods refer to come first.
  const sorted = objects.map((object) => inNamespace(object, namespace)).sort((a, b) => rank(a) - rank(b));
  return { kind: 'apply', objects: sorted };
}

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const kind = textOf(object.kind);
  const isNamespaced = Object.hasOwn(kindResources, kind)
    ? kindResources[kind as keyof typeof kindResources].namespaced
    : otherNamespaced.has(kind);
  if (!isNamespaced || textOf(object.metadata?.namespace) !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

const podKinds: ReadonlySet<string> = new Set(['Pod', 'StatefulSet', 'ReplicaSet', 'Deployment', 'Job']);

function rank({ kind }: KubeObject): number {
  if (kind === 'PersistentVolumeClaim') return 1;
  return podKinds.has(textOf(kind)) ? 2 : 0;
}
