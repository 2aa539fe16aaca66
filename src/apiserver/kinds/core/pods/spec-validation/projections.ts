import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkFileMode, checkUnreservedPath } from '../../../../validation/file-paths.ts';
import { checkFieldRef, checkResourceFieldRef } from './env.ts';

/** Volumes whose files come from Secrets, ConfigMaps, the downward API and service account tokens. */

export function checkSecret(errors: FieldErrors, field: string, secret: SecretVolumeSource): void {
  if (!secret.secretName) errors.required(`${field}.secretName`);
  checkFileMode(errors, `${field}.defaultMode`, secret.defaultMode);
  checkItems(errors, field, secret.items);
}

export function checkConfigMap(errors: FieldErrors, field: string, configMap: ConfigMapVolumeSource): void {
  if (!configMap.name) errors.required(`${field}.name`);
  checkFileMode(errors, `${field}.defaultMode`, configMap.defaultMode);
  checkItems(errors, field, configMap.items);
}

export function checkDownwardApi(
  errors: FieldErrors,
  field: string,
  downwardAPI: DownwardAPIVolumeSource,
): void {
  checkFileMode(errors, `${field}.defaultMode`, downwardAPI.defaultMode);
  for (const file of downwardAPI.items ?? []) checkFile(errors, field, file);
}

export function checkProjected(errors: FieldErrors, field: string, projected: ProjectedVolumeSource): void {
  checkFileMode(errors, `${field}.defaultMode`, projected.defaultMode);
  const taken = new Set<string>();
  projected.sources?.forEach((source, index) => {
    checkProjection(errors, { field, at: `${field}.sources[${index}]`, taken }, source);
  });
}

/** The place inside a projected volume, and the paths that earlier sources use. */
interface ProjectionContext {
  readonly field: string;
  readonly at: string;
  readonly taken: Set<string>;
}

function checkProjection(errors: FieldErrors, context: ProjectionContext, source: VolumeProjection): void {
  const { field, at } = context;
  for (const type of ['secret', 'configMap'] as const) {
    const object = source[type];
    if (object === undefined) continue;
    if (!object.name) errors.required(`${at}.${type}.name`);
    object.items?.forEach((item, index) => {
      checkItem(errors, `${at}.${type}.items[${index}]`, item);
      reservePath(errors, context, item.path, object.name ?? '');
    });
  }
  for (const file of source.downwardAPI?.items ?? []) {
    checkFile(errors, `${at}.downwardAPI`, file);
    reservePath(errors, context, file.path, file.path);
  }
  if (source.serviceAccountToken) {
    checkToken(errors, `${at}.serviceAccountToken`, field, source.serviceAccountToken);
  }
  if (Object.values(source).filter((value) => value !== undefined).length > 1) {
    errors.forbidden(at, 'may not specify more than 1 volume type per source');
  }
}

function reservePath(
  errors: FieldErrors,
  { field, taken }: ProjectionContext,
  path: string,
  shown: string,
): void {
  if (path === '') return;
  if (taken.has(path)) errors.invalid(field, shown, 'conflicting duplicate paths');
  taken.add(path);
}

function checkToken(
  errors: FieldErrors,
  at: string,
  field: string,
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
): void {
  if (expirationSeconds < 600) {
    const detail = 'may not specify a duration less than 10 minutes';
    errors.invalid(`${at}.expirationSeconds`, expirationSeconds, detail);
  }
  if (expirationSeconds > 2 ** 32) {
    const detail = 'may not specify a duration larger than 2^32 seconds';
    errors.invalid(`${at}.expirationSeconds`, expirationSeconds, detail);
  }
  if (path === '') errors.required(`${field}.path`);
  else checkUnreservedPath(errors, `${field}.path`, path);
}

function checkItems(errors: FieldErrors, field: string, items: readonly KeyToPath[] | undefined): void {
  items?.forEach((item, index) => {
    checkItem(errors, `${field}.items[${index}]`, item);
  });
}

function checkItem(errors: FieldErrors, at: string, { key, path, mode }: KeyToPath): void {
  if (key === '') errors.required(`${at}.key`);
  if (path === '') errors.required(`${at}.path`);
  checkUnreservedPath(errors, `${at}.path`, path);
  checkFileMode(errors, `${at}.mode`, mode);
}

function checkFile(errors: FieldErrors, field: string, file: DownwardAPIVolumeFile): void {
  if (file.path === '') errors.required(`${field}.path`);
  checkUnreservedPath(errors, `${field}.path`, file.path);
  if (file.fieldRef) {
    checkFieldRef(errors, `${field}.fieldRef`, file.fieldRef, volumeFieldPaths);
    if (file.resourceFieldRef) {
      errors.invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (file.resourceFieldRef) {
    checkResourceFieldRef(errors, `${field}.resourceFieldRef`, file.resourceFieldRef, 'volume');
  } else errors.required(field, 'one of fieldRef and resourceFieldRef is required');
  checkFileMode(errors, `${field}.mode`, file.mode);
}

const volumeFieldPaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
