import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { packageFile } from '../../../io/files/package-files.ts';
import { addedFields } from '../../schema/added-fields.ts';
import { openApiName } from '../../schema/type-info.ts';

/** What `kubectl explain` prints about a type of Kubernetes and about its fields. */
export interface TypeDescription {
  readonly description?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

let loaded: Readonly<Record<string, TypeDescription>> | undefined;

/**
 * The description of a type, by the name of its schema; empty if it has none. It is Kubernetes' own, except for fields that we have added. The texts are large, so they are read
 * when the first document is built, not at the start.
 */
export function descriptionOf(schemaName: string): TypeDescription {
  loaded ??= JSON.parse(
    gunzipSync(readFileSync(packageFile(descriptionsPath))).toString('utf8'),
  ) as NonNullable<typeof loaded>;
  const known = Object.hasOwn(loaded, schemaName) ? (loaded[schemaName] ?? {}) : {};
  const added = addedDescriptions.get(schemaName);
  return added === undefined ? known : { ...known, fields: { ...known.fields, ...added } };
}

const addedDescriptions: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.entries(addedFields).map(([typeId, fields]) => [
    openApiName(typeId),
    Object.fromEntries(Object.entries(fields).map(([name, { description }]) => [name, description])),
  ]),
);

/** Written by `npm run generate`. */
const descriptionsPath = 'deploy/openapi-descriptions.json.gz';
