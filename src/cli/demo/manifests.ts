import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { packageFile } from '../../io/package-files.ts';
import type { KubeObject } from '../../kube/api/meta.ts';

/** An object as a manifest has it. */
export type Manifest = KubeObject & { readonly apiVersion: string; readonly kind: string };

/** What the demo consists of, in the order in which it has to be made: that of the names of its files. */
export function demoManifests(): readonly Manifest[] {
  const folder = packageFile('examples/demo/');
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files.sort().flatMap((name) => manifestsIn(readFileSync(new URL(name, folder), 'utf8')));
}

function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    // Safe: they are files of this package, and the server that gets them checks everything.
    return document.toJS() as Manifest;
  });
}
