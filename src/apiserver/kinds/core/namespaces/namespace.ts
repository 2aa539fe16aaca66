import type { Namespace } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules, qualifiedNameProblems } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn } from '../../table-cells.ts';

/**
 * A namespace is deleted in two steps: the server sets its phase to Terminating; a controller deletes the content and
 * then removes its finalizer from `spec.finalizers` through /finalize. `metadata.finalizers` work as for every other
 * kind.
 */
export const namespaceKind: ServedKind<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  type: 'core/v1.Namespace',
  nameRule: nameRules.dnsLabel,
  hasStatus: true,
  hasGeneration: false,
  returnsDeletedObject: true,
  subresources: [{ name: 'finalize', kind: 'Namespace', type: 'core/v1.Namespace', verbs: ['update'] }],

  defaults(namespace) {
    labelWithName(namespace);
    namespace.status.phase ||= 'Active';
  },
  prepareCreate(namespace) {
    const { spec } = namespace;
    labelWithName(namespace);
    namespace.status = { phase: 'Active' };
    if (!spec.finalizers?.includes(ownFinalizer)) {
      spec.finalizers = [...(spec.finalizers ?? []), ownFinalizer];
    }
  },
  prepareUpdate(namespace, old) {
    namespace.spec = { ...namespace.spec, finalizers: old.spec.finalizers };
    namespace.status = old.status;
  },
  prepareStatus(namespace, old) {
    namespace.spec = old.spec;
  },
  prepareFinalize(namespace, old) {
    namespace.status = old.status;
  },
  validate: checkNamespaceFinalizers,
  validateUpdate: (namespace, _old, errors) => checkNamespaceFinalizers(namespace, errors),
  validateFinalize({ spec }, errors) {
    for (const [i, finalizer] of (spec.finalizers ?? []).entries()) {
      checkFinalizer(`spec.finalizers[${i}]`, finalizer, errors);
    }
  },
  validateStatus: checkPhase,
  beginDeletion(namespace) {
    namespace.status.phase = 'Terminating';
  },
  blocksRemoval: ({ spec }) => (spec.finalizers?.length ?? 0) > 0,

  selectableFields: {
    'status.phase': ({ status }) => status.phase ?? '',
    name: ({ metadata }) => metadata.name ?? '',
  },
  columns: [nameColumn, { name: 'Status', type: 'string' }, ageColumn],
  row: (namespace, context) => [
    namespace.metadata.name ?? '',
    namespace.status.phase ?? '',
    age(namespace, context),
  ],
};

const ownFinalizer = 'kubernetes';
const nameLabel = 'kubernetes.io/metadata.name';
const plainFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Called at creation, because a generated name is not known yet when defaults are set. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name };
}

function checkNamespaceFinalizers({ spec }: Namespace, errors: FieldErrors): void {
  for (const finalizer of spec.finalizers ?? []) checkFinalizer('spec.finalizers', finalizer, errors);
}

function checkFinalizer(field: string, finalizer: string, errors: FieldErrors): void {
  errors.invalidFor(field, finalizer, qualifiedNameProblems(finalizer));
  if (finalizer.includes('/') || plainFinalizers.includes(finalizer)) return;
  errors.invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
}

function checkPhase({ metadata, status }: Namespace, _old: Namespace, errors: FieldErrors): void {
  const isEnding = metadata.deletionTimestamp !== undefined;
  const expected = isEnding ? 'Terminating' : 'Active';
  if (status.phase === expected) return;
  const when = isEnding ? 'is not empty' : 'is empty';
  errors.invalid(
    'status.Phase',
    status.phase ?? '',
    `may only be '${expected}' if \`deletionTimestamp\` ${when}`,
  );
}
