import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../kube/api/stored/apiextensions.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { type JsonObject, setKey } from '../../kube/go/json-value.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { schemaShape } from '../patch/schema-shapes.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { compareVersionPriority } from '../schema/version-priority.ts';
import { dropRefusedNulls, fillDefaults } from '../structural/defaults.ts';
import { coerceEmbedded } from '../structural/embedded-meta.ts';
import { nameRules, qualifiedNameProblems } from '../validation/names.ts';
import { standardFinalizers } from '../validation/object-meta.ts';
import { customForm } from './custom-form.ts';
import { customScale } from './custom-scale.ts';
import { CustomValidator } from './custom-validator.ts';
import { printerColumns } from './printer-columns.ts';
import { publishedSchema } from './published-schema.ts';
import { selectableFields } from './selectable-fields.ts';
import { type ConversionSchemas, toServedVersion, toStorageVersion } from './version-conversion.ts';

type WithStatus = StoredObject & { status?: unknown };

export interface CustomKindOptions {
  readonly definition: CustomResourceDefinition;
  readonly version: CustomResourceDefinitionVersion;
  /** Whether the definition is being deleted, together with its objects. */
  isTerminating(): boolean;
}

/** The kind that one version of a definition describes. */
export function customServedKind({ definition, version, isTerminating }: CustomKindOptions): ServedKind {
  const { group, scope, names } = definition.spec;
  // The plural is part of the definition's name and therefore unique; the other names are taken from the accepted ones.
  const { plural } = names;
  const { kind, listKind, singular = '', shortNames, categories } = definition.status.acceptedNames;
  const schema = schemaOf(version);
  const storage = definition.spec.versions?.find((each) => each.storage) ?? version;
  const schemas: ConversionSchemas = {
    shown: schema,
    stored: storage === version ? schema : schemaOf(storage),
  };
  const identity = { group, version: version.name, kind };
  const { status, scale } = version.subresources ?? {};
  const hasStatus = status !== undefined;
  const rules = new CustomValidator(schema, { ...identity, scale });
  return {
    ...identity,
    plural,
    singular,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
    namespaced: scope === 'Namespaced',
    type: `${group}/${version.name}.${kind}`,
    form: customForm(schema),
    shape: schemaShape(schema, kind),
    shapeOfVersion: shapesByVersion(definition),
    nameRule: nameRules.dnsSubdomain,
    allowsAnyFinalizer: true,
    hasStatus,
    ...(scale === undefined ? {} : { scale: customScale(scale) }),
    hasGeneration: true,
    requiresResourceVersion: true,
    ...(version.deprecated === true ? { deprecation: deprecationOf(definition, version) } : {}),
    definition: {
      listKind: listKind ?? `${kind}List`,
      publishedSchema: publishedSchema(schema, identity),
      refusesCreation: isTerminating,
      toStored: (object) =>
        storage === version ? dropUnreadableValues(object, schema) : toStorageVersion(object, schemas),
      fromStored: (object) => toServedVersion(object, schemas),
    },

    defaults: (object) => fillDefaults(object as unknown as JsonObject, schema),
    prepareCreate(object: WithStatus) {
      if (hasStatus) delete object.status;
    },
    prepareUpdate(object: WithStatus, old: WithStatus) {
      if (hasStatus) keepStatus(object, old);
    },
    prepareStatus: takeStatusOnly,
    // Custom objects are not Go structs, so empty values count as changes.
    incrementsGeneration: (object, old) => !isEqualJson(withoutMetadata(object), withoutMetadata(old)),
    validate: (object, errors) => rules.check(object, errors),
    validateUpdate: (object, old, errors) => rules.checkUpdate(object, old, errors),
    validateStatus: (object, old, errors) => rules.checkStatus(object, old, errors),
    warnings: (object, old) => [...rules.takeRatchetingWarnings(), ...finalizerWarnings(object, old)],

    selectableFields: selectableFields(version.selectableFields),
    ...printerColumns(version.additionalPrinterColumns),
  };
}

/** Computed on demand: few definitions have other versions than the written one. */
function shapesByVersion({
  spec,
  status,
}: CustomResourceDefinition): NonNullable<ServedKind['shapeOfVersion']> {
  const shapes = new Map<string, StructShape>();
  return (apiVersion) => {
    const version = spec.versions?.find(({ name }) => `${spec.group}/${name}` === apiVersion);
    if (version === undefined) return undefined;
    const shape = shapes.get(apiVersion) ?? schemaShape(schemaOf(version), status.acceptedNames.kind);
    shapes.set(apiVersion, shape);
    return shape;
  };
}

/** The schema was checked to be structural when the definition was stored. */
function schemaOf({ schema }: CustomResourceDefinitionVersion): JsonSchema {
  return (schema?.openAPIV3Schema ?? { type: 'object' }) as JsonSchema;
}

/** The author's warning, or a default one that names a newer version. */
function deprecationOf(
  { spec }: CustomResourceDefinition,
  { name, deprecationWarning }: CustomResourceDefinitionVersion,
): string {
  if (deprecationWarning !== undefined) return deprecationWarning;
  const [better] = (spec.versions ?? [])
    .filter((version) => version.served && version.deprecated !== true)
    .map((version) => version.name)
    .filter((other) => compareVersionPriority(other, name) < 0)
    .sort(compareVersionPriority);
  const { group, names } = spec;
  const warning = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? warning : `${warning}; use ${group}/${better} ${names.kind}`;
}

/** A merged object may contain nulls and empty metadata of embedded resources that readers never see. */
function dropUnreadableValues(object: StoredObject, schema: JsonSchema): StoredObject {
  dropRefusedNulls(object as unknown as JsonObject, schema);
  coerceEmbedded(object as unknown as JsonObject, schema);
  return object;
}

function withoutMetadata({ metadata: _, ...rest }: StoredObject): JsonObject {
  return rest;
}

/** If the kind has a status subresource, writes of the object leave its status unchanged. */
function keepStatus(object: WithStatus, old: WithStatus): void {
  if (old.status !== undefined) object.status = old.status;
  else delete object.status;
}

/** A write to /status changes only the status and its field owners. */
function takeStatusOnly(object: WithStatus, old: WithStatus): void {
  const { status } = object;
  const { managedFields } = object.metadata;
  const fields = object as unknown as Record<string, unknown>;
  for (const field of Object.keys(fields)) delete fields[field];
  for (const [field, value] of Object.entries(old)) setKey(fields, field, value);
  object.metadata = { ...old.metadata };
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
  if (status === undefined) delete object.status;
  else object.status = status;
}

const avoid = 'to avoid accidental conflicts with other finalizer writers';

/** Warns about finalizer names without a domain, which may collide between programs. */
function finalizerWarnings(object: StoredObject, old: StoredObject | undefined): readonly string[] {
  const known = new Set(old?.metadata.finalizers);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !known.has(name)));
  return [...added].sort().flatMap((name) => {
    const field = `metadata.finalizers: ${JSON.stringify(name)}:`;
    const problems = qualifiedNameProblems(name).map((problem) => `${field} ${problem}`);
    if (name.includes('/') || standardFinalizers.includes(name)) return problems;
    const wanted = name.includes('.') ? ' including a path (/)' : '';
    return [...problems, `${field} prefer a domain-qualified finalizer name${wanted} ${avoid}`];
  });
}
