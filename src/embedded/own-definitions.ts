import { readFile } from 'node:fs/promises';
import type { EmbeddedServerOptions } from '../apiserver/embedded-server.ts';
import { packageFile } from '../io/files/package-files.ts';

/** The definitions of Stowage's own kinds: what is in `deploy/crds`, in a form that is read in a moment at every start. */
export async function ownDefinitions(): Promise<NonNullable<EmbeddedServerOptions['definitions']>> {
  const lines = await readFile(packageFile('deploy/definitions.ndjson'), 'utf8');
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
