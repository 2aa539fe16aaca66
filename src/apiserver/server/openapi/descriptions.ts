import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { packageFile } from '../../../io/files/package-files.ts';

/** What `kubectl explain` prints about a type of Kubernetes and about its fields. */
export interface TypeDescription {
  readonly description?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

let loaded: Readonly<Record<string, TypeDescription>> | undefined;

/**
 * Kubernetes' own description of a type, by the name of its schema; empty if it has none. The texts are large, so they are read
 * when the first document is built, not at the start.
 */
export function descriptionOf(schemaName: string): TypeDescription {
  loaded ??= JSON.parse(
    gunzipSync(readFileSync(packageFile(descriptionsPath))).toString('utf8'),
  ) as NonNullable<typeof loaded>;
  return Object.hasOwn(loaded, schemaName) ? (loaded[schemaName] ?? {}) : {};
}

/** Written by `npm run generate`. */
const descriptionsPath = 'deploy/openapi-descriptions.json.gz';
