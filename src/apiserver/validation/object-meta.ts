import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../kube/api/stored/meta.ts';
import { utf8Length } from '../../kube/go/quote.ts';
import type { FieldErrors } from './field-errors.ts';
import { checkImmutable } from './immutable.ts';
import { checkAnnotations, checkLabels } from './labels.ts';
import { nameRules, type Problems, qualifiedNameProblems, unprintableProblems } from './names.ts';
import { checkNonNegative } from './quantities.ts';

/** What the kind determines about the metadata of its objects. */
export interface MetaRules {
  readonly namespaced: boolean;
  readonly nameRule: (name: string, isPrefix: boolean) => Problems;
  /** Finalizers need no domain: true for custom resources, unlike for the kinds of Kubernetes itself. */
  readonly allowsAnyFinalizer?: boolean;
}

/** For a new object, after its name has been generated. */
export function checkObjectMeta(errors: FieldErrors, meta: ObjectMeta, rules: MetaRules): void {
  const { name = '', generateName = '' } = meta;
  if (generateName !== '') {
    errors.invalidFor('metadata.generateName', generateName, rules.nameRule(generateName, true));
  }
  if (name === '') errors.required('metadata.name', 'name or generateName is required');
  else errors.invalidFor('metadata.name', name, rules.nameRule(name, false));
  checkNamespace(errors, meta.namespace ?? '', rules.namespaced);
  checkNonNegative(errors, 'metadata.generation', meta.generation ?? 0);
  checkLabels(errors, 'metadata.labels', meta.labels);
  checkAnnotations(errors, 'metadata.annotations', meta.annotations);
  checkOwners(errors, 'metadata.ownerReferences', meta.ownerReferences ?? []);
  checkFinalizers(errors, 'metadata.finalizers', meta.finalizers ?? []);
  checkManagedFields(errors, 'metadata.managedFields', meta.managedFields ?? []);
  if (rules.allowsAnyFinalizer !== true) checkFinalizerDomains(errors, meta.finalizers ?? []);
}

/** For an update: checks immutable fields, and the rest again. Finalizers may not be added during the deletion of an object. */
export function checkObjectMetaUpdate(errors: FieldErrors, meta: ObjectMeta, old: ObjectMeta): void {
  if (old.deletionTimestamp !== undefined) checkNoNewFinalizers(errors, meta, old);
  if ((meta.resourceVersion ?? '') === '') {
    errors.invalid('metadata.resourceVersion', '', 'must be specified for an update');
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.invalid('metadata.generation', meta.generation ?? 0, 'must not be decremented');
  }
  checkIdentity(errors, meta, old);
  checkLabels(errors, 'metadata.labels', meta.labels);
  checkAnnotations(errors, 'metadata.annotations', meta.annotations);
  checkOwners(errors, 'metadata.ownerReferences', meta.ownerReferences ?? []);
  checkManagedFields(errors, 'metadata.managedFields', meta.managedFields ?? []);
}

const fieldManagerBytesMax = 128;
const subresourceBytesMax = 256;

function checkNamespace(errors: FieldErrors, namespace: string, namespaced: boolean): void {
  if (!namespaced) {
    if (namespace !== '') errors.forbidden('metadata.namespace', 'not allowed on this type');
  } else if (namespace === '') errors.required('metadata.namespace');
  else errors.invalidFor('metadata.namespace', namespace, nameRules.dnsLabel(namespace, false));
}

function checkIdentity(errors: FieldErrors, meta: ObjectMeta, old: ObjectMeta): void {
  checkImmutable(errors, 'metadata.name', meta.name ?? '', old.name ?? '');
  checkImmutable(errors, 'metadata.namespace', meta.namespace ?? '', old.namespace ?? '');
  checkImmutable(errors, 'metadata.uid', meta.uid ?? '', old.uid ?? '');
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    checkImmutable(errors, `metadata.${field}`, meta[field], old[field]);
  }
}

/** At most one owner may be the controller. */
function checkOwners(errors: FieldErrors, field: string, owners: readonly OwnerReference[]): void {
  let controller: string | undefined;
  for (const owner of owners) {
    checkOwner(errors, field, owner);
    if (owner.controller !== true) continue;
    const named = `${owner.kind}/${owner.name}`;
    if (controller === undefined) controller = named;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${named}`;
      errors.invalid(field, owners, detail);
    }
  }
}

function checkOwner(errors: FieldErrors, field: string, owner: OwnerReference): void {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner;
  if (versionOf(apiVersion) === '') {
    errors.invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty');
  }
  if (kind === '') errors.invalid(`${field}.kind`, kind, 'must not be empty');
  if (name === '') errors.invalid(`${field}.name`, name, 'must not be empty');
  if (uid === '') errors.invalid(`${field}.uid`, uid, 'must not be empty');
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner');
  }
}

/** The version of `v1` or `apps/v1`; empty if there are more slashes. */
function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  return parts.length > 2 ? '' : (parts.at(-1) ?? '');
}

function checkFinalizers(errors: FieldErrors, field: string, finalizers: readonly string[]): void {
  for (const finalizer of finalizers) {
    errors.invalidFor(field, finalizer, qualifiedNameProblems(finalizer));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set');
  }
}

/** The finalizers without a domain that Kubernetes defines. */
export const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion'];

function checkFinalizerDomains(errors: FieldErrors, finalizers: readonly string[]): void {
  finalizers.forEach((finalizer, index) => {
    if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) return;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.invalid(`metadata.finalizers[${index}]`, finalizer, detail);
  });
}

function checkNoNewFinalizers(errors: FieldErrors, meta: ObjectMeta, old: ObjectMeta): void {
  const before = new Set(old.finalizers);
  const added = new Set(meta.finalizers?.filter((finalizer) => !before.has(finalizer)));
  if (added.size === 0) return;
  const shown = [...added].sort().map((finalizer) => JSON.stringify(finalizer));
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown.join(', ')}}`;
  errors.forbidden('metadata.finalizers', detail);
}

function checkManagedFields(
  errors: FieldErrors,
  field: string,
  entries: readonly ManagedFieldsEntry[],
): void {
  entries.forEach(({ operation = '', fieldsType = '', manager = '', subresource = '' }, index) => {
    const at = `${field}[${index}]`;
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`');
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`');
    }
    checkFieldManager(errors, `${at}.manager`, manager);
    if (utf8Length(subresource) > subresourceBytesMax) {
      errors.tooLong(`${at}.subresource`, subresourceBytesMax);
    }
  });
}

/** Also for the `fieldManager` parameter of a request. */
export function checkFieldManager(errors: FieldErrors, field: string, manager: string): void {
  if (utf8Length(manager) > fieldManagerBytesMax) errors.tooLong(field, fieldManagerBytesMax);
  errors.invalidFor(field, manager, unprintableProblems(manager));
}
