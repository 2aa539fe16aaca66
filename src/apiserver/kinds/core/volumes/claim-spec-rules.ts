import type { PersistentVolumeClaimSpec } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkPositiveQuantity, isWholeQuantity } from '../../../validation/quantities.ts';
import { checkLabelSelector } from '../../../validation/selectors.ts';
import { roundToMilli } from '../resources/resource-list.ts';
import { checkAccessModes, checkVolumeMode } from './access-modes.ts';
import { checkDataSources } from './claim-data-source.ts';
import { checkClassName } from './volume-spec-rules.ts';

/** Values that an existing claim may keep although today's rules do not allow them. */
export interface ClaimSpecOptions {
  readonly allowsAnySelectorValue?: boolean;
  readonly allowsAnyDataSourceGroup?: boolean;
}

/** Also for claim templates, in pods and in StatefulSets. */
export function checkClaimSpec(
  errors: FieldErrors,
  field: string,
  spec: PersistentVolumeClaimSpec,
  options: ClaimSpecOptions = {},
): void {
  const { accessModes = [], storageClassName, volumeAttributesClassName } = spec;
  if (accessModes.length === 0) {
    errors.required(`${field}.accessModes`, 'at least 1 access mode is required');
  }
  const selectorOptions = { allowsAnyValue: options.allowsAnySelectorValue ?? false };
  checkLabelSelector(errors, `${field}.selector`, spec.selector, selectorOptions);
  checkAccessModes(errors, `${field}.accessModes`, accessModes);
  checkRequest(errors, `${field}.resources[storage]`, spec.resources?.requests?.storage);
  if (storageClassName) checkClassName(errors, `${field}.storageClassName`, storageClassName);
  checkVolumeMode(errors, `${field}.volumeMode`, spec.volumeMode);
  checkDataSources(errors, field, spec, options.allowsAnyDataSourceGroup ?? false);
  if (volumeAttributesClassName) {
    checkClassName(errors, `${field}.volumeAttributesClassName`, volumeAttributesClassName);
  }
}

export function defaultClaimSpec(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem';
  roundToMilli(spec.resources?.limits);
  roundToMilli(spec.resources?.requests);
}

/** Warns about fractions of a byte. */
export function claimSpecWarnings(field: string, spec: PersistentVolumeClaimSpec): readonly string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const text = spec.resources?.[list]?.storage;
    if (text === undefined || isWholeQuantity(text)) return [];
    const at = `${field}.resources.${list}[storage]`;
    return [`${at}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`];
  });
}

function checkRequest(errors: FieldErrors, field: string, storage: string | undefined): void {
  if (storage === undefined) errors.required(field);
  else checkPositiveQuantity(errors, field, storage);
}
