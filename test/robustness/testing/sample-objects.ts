import { readdirSync, readFileSync } from 'node:fs';
import { builtInKindCatalog } from '../../../src/apiserver/kinds/built-in-kinds.ts';
import type { ServedKind } from '../../../src/apiserver/kinds/served-kind.ts';
import { apiVersionOf } from '../../../src/kube/resource.ts';

export interface SampleOfKind {
  readonly kind: ServedKind;
  /** Ready to be created, in namespace `default` if the kind is namespaced. */
  readonly object: SampleObject;
}

export interface SampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
}

interface Recorded {
  readonly object?: SampleObject;
  readonly given?: SampleObject;
  readonly stored?: SampleObject;
}

const kindsFolder = new URL('../../../src/apiserver/kinds/', import.meta.url);

/** Every recorded object that a real server has accepted, of all served kinds. */
export function sampleObjects(): readonly SampleOfKind[] {
  const kinds = builtInKindCatalog();
  const samples: SampleOfKind[] = [];
  for (const { object, given, stored } of recordings()) {
    const sent = object ?? given;
    if (sent === undefined || stored === undefined) continue;
    const kind = kinds.all.find((kind) => kind.kind === sent.kind && apiVersionOf(kind) === sent.apiVersion);
    if (kind !== undefined) samples.push({ kind, object: sent });
  }
  return samples;
}

/** `/api/v1/namespaces/default/pods`. */
export function collectionPath(kind: ServedKind, namespace = 'default'): string {
  const root = kind.group === '' ? '/api' : `/apis/${kind.group}`;
  return `${root}/${kind.version}${kind.namespaced ? `/namespaces/${namespace}` : ''}/${kind.plural}`;
}

function* recordings(): Generator<Recorded> {
  for (const file of readdirSync(kindsFolder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ndjson')) continue;
    const lines = readFileSync(new URL(file, kindsFolder), 'utf8').split('\n');
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Recorded;
  }
}
