import type { ControllerRevision } from '../../../kube/api/stored/apps.ts';
import type { OwnerReference } from '../../../kube/api/stored/meta.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { immutableMessage } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn, noneCell } from '../table-cells.ts';

/** A snapshot of the template of a StatefulSet or a DaemonSet. */
export const controllerRevisionKind: ServedKind<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  namespaced: true,
  type: 'apps/v1.ControllerRevision',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,

  validate(revision, errors) {
    checkNonNegative(errors, 'revision', revision.revision);
    checkData(revision.data, errors);
  },
  validateUpdate(revision, old, errors) {
    checkNonNegative(errors, 'revision', revision.revision);
    // An empty object differs from an absent one here, so this compares the JSON.
    if (jsonText(revision.data ?? null) !== jsonText(old.data ?? null)) {
      errors.invalid('data', revision.data, immutableMessage);
    }
  },

  columns: [
    nameColumn,
    { name: 'Controller', type: 'string' },
    { name: 'Revision', type: 'string' },
    ageColumn,
  ],
  row(revision, context) {
    return [
      revision.metadata.name ?? '',
      ownerCell(revision.metadata.ownerReferences?.find(({ controller }) => controller === true)),
      revision.revision,
      age(revision, context),
    ];
  },
};

function checkData(data: unknown, errors: FieldErrors): void {
  if (data === undefined || data === null) errors.required('data', 'data is mandatory');
  else if (typeof data !== 'object' || Array.isArray(data)) {
    errors.required('data', 'data must be a valid JSON object');
  }
}

/** For example `statefulset.apps/web`. */
function ownerCell(owner: OwnerReference | undefined): string {
  if (owner === undefined) return noneCell;
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
