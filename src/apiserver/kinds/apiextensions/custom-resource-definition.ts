import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '../../../kube/api/stored/apiextensions.ts';
import { goQuoted } from '../../../kube/go/quote.ts';
import { nameRules } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { nameColumn } from '../table-cells.ts';
import { markTerminating } from './definition-conditions.ts';
import { checkDefinition, checkDefinitionStatus, checkDefinitionUpdate } from './definition-validation.ts';
import { hoistSpec } from './hoisted-spec.ts';
import { allSchemas } from './schema/schema-walk.ts';

/** Validates and stores definitions. `../../custom/` serves the kinds that they define. */
export const customResourceDefinitionKind: ServedKind<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  type: 'apiextensions.k8s.io/v1.CustomResourceDefinition',
  nameRule: nameRules.dnsSubdomain,
  allowsAnyFinalizer: true,
  hasStatus: true,
  hasGeneration: true,
  requiresResourceVersion: true,
  // The first deletion sets only one finalizer, whatever propagation policy the request asks for.
  hasNoDependents: true,

  defaults(definition) {
    const { spec, status } = definition;
    spec.names = withOtherNames(spec.names);
    spec.conversion ??= { strategy: 'None' };
    if ((status.storedVersions ?? []).length === 0) status.storedVersions = withStorageVersion(definition);
  },
  prepareCreate(definition) {
    definition.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    definition.status.storedVersions = withStorageVersion(definition);
  },
  prepareUpdate(definition, old) {
    definition.status = { ...old.status };
    definition.status.storedVersions = withStorageVersion(definition);
  },

  validate: checkDefinition,
  validateUpdate: checkDefinitionUpdate,
  validateStatus: checkDefinitionStatus,
  beginDeletion: markTerminating,
  warnings(definition, old) {
    const known = new Set(old === undefined ? [] : unrecognizedFormats(old.spec));
    const found = new Set(unrecognizedFormats(definition.spec).filter((format) => !known.has(format)));
    return [...found].map((format) => `unrecognized format ${goQuoted(format)}`);
  },

  columns: [nameColumn, { name: 'Created At', type: 'date' }],
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

/** Adds defaults, and returns the names in the order in which clients write them. */
function withOtherNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const { plural, singular, shortNames, kind, listKind, categories } = names;
  const ofKind = kind === '' ? undefined : { singular: kind.toLowerCase(), listKind: `${kind}List` };
  return {
    plural,
    singular: singular || ofKind?.singular,
    shortNames,
    kind,
    listKind: listKind || ofKind?.listKind,
    categories,
  };
}

/** All versions in which objects may be stored, including the current storage version. */
function withStorageVersion({ spec, status }: CustomResourceDefinition): string[] | null {
  const storage = spec.versions?.find((version) => version.storage)?.name;
  const known = status.storedVersions ?? [];
  if (storage === undefined || known.includes(storage)) return status.storedVersions;
  return [...known, storage];
}

/** Formats that are not checked, because they are unknown. A format may be listed more than once. */
function unrecognizedFormats(spec: CustomResourceDefinitionSpec): readonly string[] {
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
