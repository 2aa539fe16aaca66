import type { SelectableField } from '../../kube/api/stored/apiextensions.ts';
import type { Json } from '../../kube/go/json-value.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import { parseJsonPath } from './json-path.ts';

/** Fields of a custom resource that selectors may name, by the names that they use: `spec.color`. */
export function selectableFields(
  defined: readonly SelectableField[] = [],
): Readonly<Record<string, (object: StoredObject) => string>> {
  return Object.fromEntries(defined.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), readerOf(jsonPath)]));
}

function readerOf(jsonPath: string): (object: StoredObject) => string {
  const path = parseJsonPath(jsonPath);
  return (object) => {
    const [value] = path?.find(object as unknown as Json) ?? [];
    // An object or a list was stored before the schema knew what is there.
    return value === undefined || typeof value === 'object' ? '' : String(value);
  };
}
