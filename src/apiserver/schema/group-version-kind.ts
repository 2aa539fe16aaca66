import { apiVersionOf } from '../../kube/resource.ts';
import type { Typed } from './object-form.ts';
import { hasTable, tableOf } from './type-table.ts';

/** The expected type of a request body. */
export interface ExpectedType extends Typed {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type GroupVersionKind = Pick<ExpectedType, 'group' | 'version' | 'kind'>;

/** Undefined if the text is not a group and version. */
export function parseApiVersion(
  text: string,
): { readonly group: string; readonly version: string } | undefined {
  if (text === '' || text === '/') return { group: '', version: '' };
  const parts = text.split('/');
  if (parts.length > 2) return undefined;
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version: parts.at(-1) ?? '' };
}

/** Completes what a body leaves out by what the request path says. */
export function withDefaults(found: GroupVersionKind, expected: GroupVersionKind): GroupVersionKind {
  const kind = found.kind === '' ? expected.kind : found.kind;
  if (found.version !== '') return { ...found, kind };
  if (found.group !== '' && found.group !== expected.group) return { ...found, kind };
  return { group: expected.group, version: expected.version, kind };
}

export interface KindProblem {
  readonly message: string;
  /** Whether the message is complete; otherwise the caller must prepend the kinds. */
  readonly isComplete: boolean;
}

/** Why a body of one kind cannot be used as another, with Kubernetes' message; undefined if it can. */
export function kindMismatch(found: GroupVersionKind, expected: ExpectedType): KindProblem | undefined {
  // Options belong to every group.
  const isOfOptions = expected.type.startsWith('meta/v1.');
  if (isOfOptions && found.kind === expected.kind) return undefined;
  const apiVersion = apiVersionOf(found);
  if (isOfOptions || !isKnownKind(found)) {
    const message = `no kind ${JSON.stringify(found.kind)} is registered for version ${JSON.stringify(apiVersion)}`;
    return { isComplete: false, message: `${message} in scheme "pkg/runtime/scheme.go:111"` };
  }
  if (internalTypeName(found) !== internalTypeName(expected)) {
    const message = `converting (v1.${found.kind}) to (${internalTypeName(expected)}): unknown conversion`;
    return { isComplete: false, message };
  }
  if (apiVersion === apiVersionOf(expected)) return undefined;
  return { isComplete: true, message: versionMismatch(apiVersion, apiVersionOf(expected)) };
}

export function versionMismatch(given: string, expected: string): string {
  return `the API version in the data (${given}) does not match the expected API version (${expected})`;
}

/** Kinds that servers return besides objects; they can be decoded, but are never expected in a body. */
const unversionedKinds = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'List',
  'Status',
]);

function isKnownKind({ group, version, kind }: GroupVersionKind): boolean {
  // Names in the API tables that are not groups.
  if (group === 'core' || group === 'meta') return false;
  if (group === '' && version === 'v1' && unversionedKinds.has(kind)) return true;
  const id = `${group === '' ? 'core' : group}/${version}.${kind}`;
  return hasTable(id) && tableOf(id).isKind;
}

/** Go's name of the internal type, which all versions of a kind share. */
function internalTypeName({ group, kind }: GroupVersionKind): string {
  const [short = ''] = group.split('.');
  return `${short === '' || short === 'events' ? 'core' : short}.${kind}`;
}
