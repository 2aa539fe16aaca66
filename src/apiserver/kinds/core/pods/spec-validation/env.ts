import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  FileKeySelector,
  ObjectFieldSelector,
  PodSpec,
  ResourceFieldSelector,
} from '../../../../../kube/api/stored/core.ts';
import { ownValue } from '../../../../../kube/go/json-value.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkNoParentSegment } from '../../../../validation/file-paths.ts';
import {
  configKeyProblems,
  dnsLabelProblems,
  envVarNameProblems,
  nameRules,
  qualifiedNameProblems,
} from '../../../../validation/names.ts';
import { compareQuantityTexts } from '../../../../validation/quantities.ts';
import { eachContainer } from '../containers.ts';

export function checkEnv(errors: FieldErrors, field: string, variables: readonly EnvVar[]): void {
  variables.forEach((variable, index) => {
    const at = `${field}[${index}]`;
    if (variable.name === '') errors.required(`${at}.name`);
    else errors.invalidFor(`${at}.name`, variable.name, envVarNameProblems(variable.name));
    checkValueFrom(errors, `${at}.valueFrom`, variable);
  });
}

export function checkEnvFrom(errors: FieldErrors, field: string, sources: readonly EnvFromSource[]): void {
  sources.forEach(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${field}[${index}]`;
    if (prefix !== '') errors.invalidFor(`${at}.prefix`, prefix, envVarNameProblems(prefix));
    if (configMapRef) checkEnvObject(errors, `${at}.configMapRef.name`, configMapRef.name);
    if (secretRef) checkEnvObject(errors, `${at}.secretRef.name`, secretRef.name);
    if (!configMapRef && !secretRef) {
      errors.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
    } else if (configMapRef && secretRef) errors.invalid(field, '', moreThanOne);
  });
}

/** A reference to a field of the pod, in a variable or a downward API file. */
export function checkFieldRef(
  errors: FieldErrors,
  field: string,
  { apiVersion = '', fieldPath }: ObjectFieldSelector,
  supported: readonly string[],
): void {
  if (apiVersion === '') {
    errors.required(`${field}.apiVersion`);
    return;
  }
  if (fieldPath === '') {
    errors.required(`${field}.fieldPath`);
    return;
  }
  const { path, key } = splitSubscript(fieldPath);
  const problem = conversionProblem(apiVersion, fieldPath, path);
  if (problem !== undefined) {
    errors.invalid(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`);
  } else if (path === 'metadata.annotations' && key !== undefined) {
    errors.invalidFor(field, key.toLowerCase(), qualifiedNameProblems(key.toLowerCase()));
  } else if (path === 'metadata.labels' && key !== undefined) {
    errors.invalidFor(field, key, qualifiedNameProblems(key));
  } else {
    const shown = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
    checkSupported(errors, `${field}.fieldPath`, shown, supported);
  }
}

/** Splits `metadata.labels['key']`; both are undefined for a path without a subscript. */
function splitSubscript(fieldPath: string): { readonly path?: string; readonly key?: string } {
  const at = fieldPath.indexOf("['", 1);
  if (at < 0 || at + 4 > fieldPath.length || !fieldPath.endsWith("']")) return {};
  return { path: fieldPath.slice(0, at), key: fieldPath.slice(at + 2, -2) };
}

/**
 * A reference to a resource of a container, in units of the divisor. A variable without a container name refers to its
 * own container.
 */
export function checkResourceFieldRef(
  errors: FieldErrors,
  field: string,
  { containerName = '', resource, divisor }: ResourceFieldSelector,
  user: 'variable' | 'volume',
): void {
  if (user === 'volume' && containerName === '') errors.required(`${field}.containerName`);
  else if (resource === '') errors.required(`${field}.resource`);
  else if (!/^(requests|limits)\.hugepages-/.test(resource)) {
    checkSupported(errors, `${field}.resource`, resource, resourceFields);
  }
  checkDivisor(errors, `${field}.divisor`, resource, divisor ?? '0');
}

/** A fileKeyRef needs an emptyDir volume, which an init container can write to. */
export function checkFileKeyVolumes(errors: FieldErrors, path: string, spec: PodSpec): void {
  const volumes = new Map(spec.volumes?.map((volume) => [volume.name, volume]));
  eachContainer(spec, path, (container, at) => {
    container.env?.forEach(({ valueFrom }, index) => {
      const volumeName = valueFrom?.fileKeyRef?.volumeName;
      if (volumeName === undefined) return;
      const field = `${at}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const volume = volumes.get(volumeName);
      if (volume === undefined) errors.notFound(field, volumeName);
      else if (!volume.emptyDir) {
        errors.invalid(field, volumeName, 'referenced volume must be of type emptyDir');
      }
    });
  });
}

const moreThanOne = 'may not have more than one field specified at a time';
const noSource =
  'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';

function checkValueFrom(errors: FieldErrors, field: string, { value = '', valueFrom }: EnvVar): void {
  if (valueFrom === undefined) return;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  if (fieldRef) checkFieldRef(errors, `${field}.fieldRef`, fieldRef, variableFieldPaths);
  if (resourceFieldRef) {
    checkResourceFieldRef(errors, `${field}.resourceFieldRef`, resourceFieldRef, 'variable');
  }
  if (configMapKeyRef) checkKeyRef(errors, `${field}.configMapKeyRef`, configMapKeyRef);
  if (secretKeyRef) checkKeyRef(errors, `${field}.secretKeyRef`, secretKeyRef);
  if (fileKeyRef) checkFileKeyRef(errors, `${field}.fileKeyRef`, fileKeyRef);
  const count = Object.values(valueFrom).filter((source) => source !== undefined).length;
  if (count === 0) errors.invalid(field, '', noSource);
  else if (value !== '') errors.invalid(field, '', 'may not be specified when `value` is not empty');
  else if (count > 1) errors.invalid(field, '', moreThanOne);
}

function checkEnvObject(errors: FieldErrors, field: string, name = ''): void {
  if (name === '') errors.required(field);
  else errors.invalidFor(field, name, nameRules.dnsSubdomain(name, true));
}

/** A key of a ConfigMap or a Secret. */
function checkKeyRef(errors: FieldErrors, field: string, { name = '', key }: ConfigMapKeySelector): void {
  errors.invalidFor(`${field}.name`, name, nameRules.dnsSubdomain(name, false));
  if (key === '') errors.required(`${field}.key`);
  else errors.invalidFor(`${field}.key`, key, configKeyProblems(key));
}

function checkFileKeyRef(errors: FieldErrors, field: string, reference: FileKeySelector): void {
  const { key, volumeName, path } = reference;
  if (key === '') errors.required(`${field}.key`);
  else errors.invalidFor(`${field}.key`, key, envVarNameProblems(key));
  if (volumeName === '') errors.required(`${field}.volumeName`);
  else errors.invalidFor(`${field}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (path === '') errors.required(`${field}.path`);
  else checkNoParentSegment(errors, `${field}.path`, path);
}

function conversionProblem(apiVersion: string, fieldPath: string, path?: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (path !== undefined) {
    const isMap = path === 'metadata.annotations' || path === 'metadata.labels';
    return isMap ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  return podFieldPaths.has(fieldPath) ? undefined : `field label not supported: ${fieldPath}`;
}

function checkDivisor(errors: FieldErrors, field: string, resource: string, divisor: string): void {
  if (compareQuantityTexts(divisor, '0') === 0) return;
  const name = resource.replace(/^(requests|limits)\./, '');
  const resourceKind =
    resource === name
      ? undefined
      : ownValue(divisorNames, name.startsWith('hugepages-') ? 'hugepages' : name);
  if (resourceKind === undefined) return;
  const supported = name === 'cpu' ? ['1m', '1'] : byteDivisors;
  if (supported.includes(divisor)) return;
  const values = name === 'cpu' ? '1m and 1' : byteDivisors.join(', ');
  errors.invalid(
    field,
    resource,
    `only divisor's values ${values} are supported with the ${resourceKind} resource`,
  );
}

const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

const divisorNames: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
  hugepages: 'hugepages',
};

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const variableFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const podFieldPaths: ReadonlySet<string> = new Set([
  ...variableFieldPaths,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.host',
  'status.phase',
]);
