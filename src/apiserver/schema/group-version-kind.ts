import { apiVersionOf } from '../../kube/resource.ts';
import type { Typed } from './object-form.ts';
import { hasTable, tableOf } from './type-table.ts';

/** What a body must be. */
export interface ExpectedType extends Typed {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type GroupVersionKind = Pick<ExpectedType, 'group' | 'version' | 'kind'>;

/** Undefined where it is no group and version. */
export function parseApiVersion(
  text: string,
): { readonly group: string; readonly version: string } | undefined {
  if (text === '' || text === '/') return { group: '', version: '' };
  const parts = text.split('/');
  if (parts.length > 2) return undefined;
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version: parts.at(-1) ?? '' };
}

/** What a body leaves out is what its address says. */
export function withDefaults(found: GroupVersionKind, expected: GroupVersionKind): GroupVersionKind {
  const kind = found.kind === '' ? expected.kind : found.kind;
  if (found.version !== '') return { ...found, kind };
  if (found.group !== '' && found.group !== expected.group) return { ...found, kind };
  return { group: expected.group, version: expected.version, kind };
}

export interface KindProblem {
  readonly message: string;
  /** Whether the sentence tells everything, or the caller is to name the kinds first. */
  readonly isWhole: boolean;
}

/** Why a body of one kind can't stand for another, in Kubernetes' words; undefined where it can. */
export function kindMismatch(found: GroupVersionKind, expected: ExpectedType): KindProblem | undefined {
  // Options belong to every group.
  const isOfOptions = expected.type.startsWith('meta/v1.');
  if (isOfOptions && found.kind === expected.kind) return undefined;
  const apiVersion = apiVersionOf(found);
  if (isOfOptions || !isKnownKind(found)) {
    const message = `no kind ${JSON.stringify(found.kind)} is registered for version ${JSON.stringify(apiVersion)}`;
    return { isWhole: false, message: `${message} in scheme "pkg/runtime/scheme.go:111"` };
  }
  if (goType(found) !== goType(expected)) {
    const message = `converting (v1.${found.kind}) to (${goType(expected)}): unknown conversion`;
    return { isWhole: false, message };
  }
  if (apiVersion === apiVersionOf(expected)) return undefined;
  return { isWhole: true, message: otherVersion(apiVersion, apiVersionOf(expected)) };
}

export function otherVersion(given: string, expected: string): string {
  return `the API version in the data (${given}) does not match the expected API version (${expected})`;
}

/** What servers say besides objects; it can be read, and is never what a body should be. */
const unversionedKinds = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'List',
  'Status',
]);

function isKnownKind({ group, version, kind }: GroupVersionKind): boolean {
  // Names of the tables that are no groups.
  if (group === 'core' || group === 'meta') return false;
  if (group === '' && version === 'v1' && unversionedKinds.has(kind)) return true;
  const id = `${group === '' ? 'core' : group}/${version}.${kind}`;
  return hasTable(id) && tableOf(id).isKind;
}

/** How Go calls the type that all versions of a kind share. */
function goType({ group, kind }: GroupVersionKind): string {
  const [short = ''] = group.split('.');
  return `${short === '' || short === 'events' ? 'core' : short}.${kind}`;
}
