import { builtInKindCatalog } from '../../apiserver/kinds/built-in-kinds.ts';
import type { ServedKind, StoredObject } from '../../apiserver/kinds/served-kind.ts';
import { canonicalObject } from '../../apiserver/registry/canonical-object.ts';
import { diagnose } from '../../apiserver/schema/diagnose.ts';
import { FieldErrors } from '../../apiserver/validation/field-errors.ts';
import { checkObjectMeta } from '../../apiserver/validation/object-meta.ts';
import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import { indexKeyOf } from '../../engine/cluster-index/read-object.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError, invalid } from '../../kube/api-error.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { kindResources } from '../../state/kind-resources.ts';
import { CliError } from '../errors/cli-error.ts';

/**
 * Throws a CliError about the first object that an API server would refuse: a plan for it would predict what cannot happen. A file may have a part of an object
 * that exists, so of these only the types of the fields are checked, and the name. Kinds that Kubernetes itself does not have are not checked.
 */
export function checkApplied(objects: readonly KubeObject[], snapshot: ClusterSnapshot, nowMs: number): void {
  const catalog = builtInKindCatalog();
  for (const object of objects) {
    const kind = catalog.byKind(textOf(object.apiVersion), textOf(object.kind));
    if (kind === undefined) continue;
    try {
      checkObject(kind, object, { isNew: !exists(object, snapshot), nowMs });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new CliError(`--apply: ${error.message}; an API server would refuse it, so correct the file`, 1, {
        cause: error,
      });
    }
  }
}

function checkObject(
  kind: ServedKind,
  object: KubeObject,
  { isNew, nowMs }: { readonly isNew: boolean; readonly nowMs: number },
): void {
  const name = textOf(object.metadata?.name);
  if (name === '')
    throw new CliError(
      `--apply: ${kind.kind} without a name: metadata.name: is missing; kubectl apply needs it, also beside generateName`,
    );
  const typed = decoded(kind, object, name);
  const errors = new FieldErrors();
  if (isNew) {
    kind.defaults?.(typed);
    kind.prepareCreate?.(typed, { nowMs });
    checkObjectMeta(errors, typed.metadata, kind);
    // Values that a server allocates, such as the addresses of a Service, are not known here.
    if (kind.allocate === undefined) kind.validate(typed, errors);
  } else errors.invalidFor('metadata.name', name, kind.nameRule(name, false));
  if (!errors.isEmpty) throw invalid(kind, name, errors.causes);
}

function decoded(kind: ServedKind, object: KubeObject, name: string): StoredObject {
  try {
    return canonicalObject(kind, object, 'Ignore');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const field = diagnose(kind.type, object).problemPath?.text ?? '';
    const where = field === '' ? '' : `${field}: `;
    throw new CliError(
      `--apply: ${kind.kind} ${JSON.stringify(name)} cannot be read: ${where}${error.message}; correct the file`,
      1,
      { cause: error },
    );
  }
}

function exists(object: KubeObject, snapshot: ClusterSnapshot): boolean {
  const { namespace = '', name = '' } = object.metadata ?? {};
  const kind = textOf(object.kind);
  if (Object.hasOwn(kindResources, kind)) {
    const indexed = kind as IndexedKind;
    // Safe: the object says that it is of this kind.
    return snapshot.get(indexed, indexKeyOf(indexed, object as never) ?? '') !== undefined;
  }
  // Deployments and Jobs are not in the snapshot; what belongs to them is.
  const owned = kind === 'Deployment' ? snapshot.values('ReplicaSet') : snapshot.values('Pod');
  return [...owned].some(
    ({ metadata }) =>
      metadata?.namespace === namespace &&
      listOf(metadata?.ownerReferences).some((owner) => owner.kind === kind && owner.name === name),
  );
}
