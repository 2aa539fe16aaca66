import type { ClusterRole, ClusterRoleBinding, RoleBinding } from '../../kube/api/stored/rbac.ts';
import { isReason } from '../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { canonicalObject } from '../registry/canonical-object.ts';
import type { Registry, WriteContext } from '../registry/registry.ts';
import type { BootstrapBinding, BootstrapRole } from './bootstrap-types.ts';
import { bootstrapBindings, bootstrapRoles } from './generated/bootstrap-policy.ts';
import { uncoveredRules } from './rule-coverage.ts';

const group = 'rbac.authorization.k8s.io';
const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

const write: WriteContext = { manager: 'kube-apiserver', user: 'system:apiserver', warn: () => {} };

/**
 * Ensures the default roles and bindings of a cluster. Creates missing ones, restores removed rules and subjects, and
 * keeps additions. Skips objects annotated with `autoupdate: "false"`. All writes run concurrently, so that they share
 * one commit to disk.
 */
export async function bootstrapPolicy(registry: Registry): Promise<void> {
  await Promise.all([
    ...bootstrapRoles.map((role) => ensureRole(registry, role)),
    ...bootstrapBindings.map((binding) => ensureBinding(registry, binding)),
  ]);
}

async function ensureRole(registry: Registry, expected: BootstrapRole): Promise<void> {
  const wanted = roleObject(expected);
  await ensure(registry, expected.namespace === undefined ? 'clusterroles' : 'roles', wanted, (found) =>
    reconciledRole(found as ClusterRole, wanted as ClusterRole),
  );
}

async function ensureBinding(registry: Registry, expected: BootstrapBinding): Promise<void> {
  const plural = expected.namespace === undefined ? 'clusterrolebindings' : 'rolebindings';
  const wanted = bindingObject(expected);
  await ensure(registry, plural, wanted, (found) =>
    reconciledBinding(found as RoleBinding, wanted as RoleBinding),
  );
}

/** The updated object; undefined if no change is needed, `recreate` if the object must be deleted and created again. */
type Reconciled = StoredObject | 'recreate' | undefined;

async function ensure(
  registry: Registry,
  plural: string,
  wanted: StoredObject,
  reconcile: (found: StoredObject) => Reconciled,
): Promise<void> {
  const kind = registry.kinds.byPlural(`${group}/v1`, plural);
  if (kind === undefined) return;
  const { namespace, name = '' } = wanted.metadata;
  const key = { namespace, name };
  const found = await findExisting(registry, kind, key);
  const next = found === undefined ? 'recreate' : isAutoUpdateDisabled(found) ? undefined : reconcile(found);
  if (next === undefined) return;
  if (next !== 'recreate') {
    await registry.update(kind, key, canonicalObject(kind, next, 'Strict'), write);
    return;
  }
  if (found !== undefined) await registry.delete(kind, key, {}, write);
  await registry.create(kind, namespace, canonicalObject(kind, wanted, 'Strict'), write);
}

async function findExisting(
  registry: Registry,
  kind: ServedKind,
  key: ObjectKey,
): Promise<StoredObject | undefined> {
  try {
    return (await registry.get(kind, key)).object;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

function isAutoUpdateDisabled({ metadata }: StoredObject): boolean {
  return metadata.annotations?.[autoUpdate] === 'false';
}

function reconciledRole(found: ClusterRole, wanted: ClusterRole): Reconciled {
  const missing = uncoveredRules(found.rules ?? [], wanted.rules ?? []);
  const held = found.aggregationRule?.clusterRoleSelectors ?? [];
  const selectors = wanted.aggregationRule?.clusterRoleSelectors ?? [];
  const lacking = selectors.filter((selector) => !held.some((known) => isSemanticallyEqual(known, selector)));
  const { aggregationRule: _, ...rest } = found;
  const next: ClusterRole = {
    ...rest,
    metadata: mergedMeta(found, wanted),
    rules: [...(found.rules ?? []), ...missing],
    ...(wanted.aggregationRule === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [...held, ...lacking] } }),
  };
  return isSemanticallyEqual(next, found) ? undefined : next;
}

/** The roleRef of a binding is immutable. */
function reconciledBinding(found: RoleBinding, wanted: RoleBinding): Reconciled {
  if (!isSemanticallyEqual(found.roleRef, wanted.roleRef)) return 'recreate';
  const held = found.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter(
    (subject) => !held.some((known) => isSemanticallyEqual(known, subject)),
  );
  const next = { ...found, metadata: mergedMeta(found, wanted), subjects: [...held, ...missing] };
  return isSemanticallyEqual(next, found) ? undefined : next;
}

/** Existing labels and annotations win. */
function mergedMeta({ metadata: found }: StoredObject, { metadata: wanted }: StoredObject) {
  return {
    ...found,
    annotations: { ...wanted.annotations, ...found.annotations },
    labels: { ...wanted.labels, ...found.labels },
  };
}

function metaOf({ name, namespace, labels }: BootstrapRole | BootstrapBinding) {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    annotations: { [autoUpdate]: 'true' },
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  };
}

function roleObject(expected: BootstrapRole): StoredObject {
  const { aggregates } = expected;
  const kind = expected.namespace === undefined ? 'ClusterRole' : 'Role';
  const selectors = aggregates?.map((matchLabels) => ({ matchLabels: { ...matchLabels } }));
  const role: ClusterRole = {
    apiVersion: `${group}/v1`,
    kind,
    metadata: metaOf(expected),
    rules: aggregates === undefined ? [...expected.rules] : null,
    ...(selectors === undefined ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
  };
  return role;
}

function bindingObject(expected: BootstrapBinding): StoredObject {
  const [kind = '', name = ''] = expected.role.split(/\/(.*)/s);
  const binding: ClusterRoleBinding = {
    apiVersion: `${group}/v1`,
    kind: expected.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metaOf(expected),
    roleRef: { apiGroup: group, kind, name },
    subjects: expected.subjects.map((subject) =>
      subject.kind === 'ServiceAccount' ? { ...subject } : { ...subject, apiGroup: group },
    ),
  };
  return binding;
}
