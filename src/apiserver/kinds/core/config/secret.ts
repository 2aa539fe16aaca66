import type { Secret } from '../../../../kube/api/stored/core.ts';
import { ownValue } from '../../../../kube/go/json-value.ts';
import { JsonSyntaxError, readJson } from '../../../schema/json-reader.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkImmutable } from '../../../validation/immutable.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn } from '../../table-cells.ts';
import { checkImmutableData, checkKeys, dataBytesMax, decodedBytes } from './config-data.ts';

export const secretKind: ServedKind<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  namespaced: true,
  type: 'core/v1.Secret',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,

  defaults(secret) {
    mergeStringData(secret);
    secret.type ||= 'Opaque';
  },
  validate: checkSecret,
  validateUpdate(secret, old, errors) {
    checkImmutable(errors, 'type', secret.type ?? '', old.type ?? '');
    checkImmutableData(errors, secret, old, ['data']);
    checkSecret(secret, errors);
  },

  selectableFields: { type: ({ type = '' }) => type },
  columns: [nameColumn, { name: 'Type', type: 'string' }, { name: 'Data', type: 'string' }, ageColumn],
  row(secret, context) {
    return [
      secret.metadata.name ?? '',
      secret.type ?? '',
      Object.keys(secret.data ?? {}).length,
      age(secret, context),
    ];
  },
};

/** `stringData` is a write-only way to set `data` without base64. */
function mergeStringData(secret: Secret): void {
  for (const [key, text] of Object.entries(secret.stringData ?? {})) {
    secret.data = { ...secret.data, [key]: Buffer.from(text, 'utf8').toString('base64') };
  }
  delete secret.stringData;
}

function checkSecret(secret: Secret, errors: FieldErrors): void {
  checkKeys(errors, 'data', secret.data);
  if (decodedBytes(secret.data) > dataBytesMax) errors.tooLong('data', dataBytesMax);
  ownValue(typeChecks, secret.type ?? '')?.(secret, errors);
}

/** What secrets of the known types must contain. */
const typeChecks: Readonly<Record<string, (secret: Secret, errors: FieldErrors) => void>> = {
  'kubernetes.io/service-account-token': ({ metadata }, errors) => {
    const key = 'kubernetes.io/service-account.name';
    if (!metadata.annotations?.[key]) errors.required(`metadata.annotations[${key}]`);
  },
  'kubernetes.io/dockercfg': (secret, errors) => checkJson(secret, '.dockercfg', errors),
  'kubernetes.io/dockerconfigjson': (secret, errors) => checkJson(secret, '.dockerconfigjson', errors),
  'kubernetes.io/basic-auth': ({ data = {} }, errors) => {
    if (Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')) return;
    errors.required('data[username]');
    errors.required('data[password]');
  },
  'kubernetes.io/ssh-auth': ({ data = {} }, errors) => {
    if (!data['ssh-privatekey']) errors.required('data[ssh-privatekey]');
  },
  'kubernetes.io/tls': ({ data = {} }, errors) => {
    for (const key of ['tls.crt', 'tls.key']) {
      if (!Object.hasOwn(data, key)) errors.required(`data[${key}]`);
    }
  },
};

function checkJson({ data = {} }: Secret, key: string, errors: FieldErrors): void {
  const encoded = data[key];
  if (encoded === undefined) {
    errors.required(`data[${key}]`);
    return;
  }
  const problem = objectProblem(Buffer.from(encoded, 'base64'));
  if (problem !== undefined) errors.invalid(`data[${key}]`, '<secret contents redacted>', problem);
}

function objectProblem(bytes: Uint8Array): string | undefined {
  try {
    const { value } = readJson(bytes, { keepsNumbers: true });
    const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return found === 'object'
      ? undefined
      : `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}
