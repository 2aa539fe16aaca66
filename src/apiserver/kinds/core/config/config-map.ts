import type { ConfigMap } from '../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn } from '../../table-cells.ts';
import { checkImmutableData, checkKeys, dataBytesMax, decodedBytes } from './config-data.ts';

export const configMapKind: ServedKind<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  type: 'core/v1.ConfigMap',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,

  validate: checkConfigMap,
  validateUpdate(map, old, errors) {
    checkImmutableData(errors, map, old, ['data', 'binaryData']);
    checkConfigMap(map, errors);
  },

  columns: [nameColumn, { name: 'Data', type: 'string' }, ageColumn],
  row(map, context) {
    const count = Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length;
    return [map.metadata.name ?? '', count, age(map, context)];
  },
};

function checkConfigMap({ data = {}, binaryData = {} }: ConfigMap, errors: FieldErrors): void {
  for (const key of Object.keys(data)) {
    checkKeys(errors, 'data', { [key]: '' });
    if (Object.hasOwn(binaryData, key)) {
      errors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    }
  }
  checkKeys(errors, 'binaryData', binaryData);
  const textBytes = Object.values(data).reduce((sum, text) => sum + utf8Length(text), 0);
  // Kubernetes reports the whole object as field `[]`.
  if (textBytes + decodedBytes(binaryData) > dataBytesMax) errors.tooLong('[]', dataBytesMax);
}
