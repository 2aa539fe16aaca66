import type {
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '../../../kube/api/stored/apiextensions.ts';
import { hoistSpec } from './hoisted-spec.ts';
import { allSchemas } from './schema/schema-walk.ts';

/** Formats that are not checked, because they are unknown. A format may be listed more than once. */
export function unrecognizedFormats(spec: CustomResourceDefinitionSpec): readonly string[] {
  const { validation, versions } = hoistSpec(spec);
  const schemas = [validation, ...(versions ?? []).map(({ schema }) => schema)];
  return schemas.flatMap((each) => [...allSchemas(each?.openAPIV3Schema)].flatMap(unrecognizedFormat));
}

function unrecognizedFormat({ type = '', format = '' }: JSONSchemaProps): readonly string[] {
  if (format === '') return [];
  if (type === '' || type === 'string') return textFormats.has(format.replaceAll('-', '')) ? [] : [format];
  const known = type === 'integer' ? integerFormats : type === 'number' ? numberFormats : [];
  return known.includes(format) ? [] : [format];
}

const integerFormats: readonly string[] = ['int32', 'int64'];
const numberFormats: readonly string[] = ['float', 'double'];

/** Kubernetes ignores dashes in the names of formats. */
const textFormats: ReadonlySet<string> = new Set([
  ...['bsonobjectid', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'mac'],
  ...['uuid', 'uuid3', 'uuid4', 'uuid5', 'isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn'],
  ...['hexcolor', 'rgbcolor', 'byte', 'password', 'date', 'duration', 'datetime'],
  ...['k8sshortname', 'k8slongname'],
]);
