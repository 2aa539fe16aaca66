import type { SelectableField } from '../../kube/api/stored/apiextensions.ts';
import type { Json } from '../../kube/go/json-value.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import { parseJsonPath } from './json-path.ts';

/** The fields that selectors may use, by name: `spec.color`. */
export function selectableFields(
  defined: readonly SelectableField[] = [],
): Readonly<Record<string, (object: StoredObject) => string>> {
  return Object.fromEntries(defined.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), readerOf(jsonPath)]));
}

function readerOf(jsonPath: string): (object: StoredObject) => string {
  const path = parseJsonPath(jsonPath);
  return (object) => {
    const [value] = path?.find(object as unknown as Json) ?? [];
    // Objects and lists here were stored under an older schema.
    return value === undefined || typeof value === 'object' ? '' : String(value);
  };
}
