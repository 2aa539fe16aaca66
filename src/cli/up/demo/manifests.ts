import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { packageFile } from '../../../io/files/package-files.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';

/** An object of a manifest. */
export type Manifest = KubeObject & { readonly apiVersion: string; readonly kind: string };

/** The objects of the demo, in the order of creation, which is the order of the file names. */
export function demoManifests(): readonly Manifest[] {
  const folder = packageFile('examples/demo/');
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files.sort().flatMap((name) => manifestsIn(readFileSync(new URL(name, folder), 'utf8')));
}

function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    // Safe: these are files of this package, and the server validates them.
    return document.toJS() as Manifest;
  });
}
