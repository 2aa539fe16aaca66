import { createHash } from 'node:crypto';
import type {
  CustomResourceConversion,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../kube/api/stored/apiextensions.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import { checkRequiredEnum } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { dnsSubdomainProblems } from '../../validation/names.ts';
import { checkNameSyntax, checkRequiredNames, labelProblem } from './definition-names.ts';
import { type HoistedSpec, hoistSpec } from './hoisted-spec.ts';
import { internalVersions } from './schema/internal-json.ts';
import { checkSchema } from './schema/schema-validation.ts';
import { allSchemas } from './schema/schema-walk.ts';
import { conversionProblem } from './schema/structural-form.ts';
import { checkSelectableFields } from './selectable-fields.ts';
import { checkColumns, checkDeprecation, checkSubresources } from './version-parts.ts';

/** Digests of the specs that were valid last, the newest at the end. */
const validSpecs = new Set<string>();
const validSpecsMax = 1_000;

/**
 * Validates the spec of a definition. Specs that were valid before are recognized: the check compiles all rules of the schema, and a change of
 * a label or of the status is checked with the whole spec.
 */
export function checkSpec(spec: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  const digest = createHash('sha256').update(jsonText(spec)).digest('base64');
  const isKnown = validSpecs.delete(digest);
  const errorsBefore = errors.count;
  if (!isKnown) checkWholeSpec(spec, errors);
  if (errors.count > errorsBefore) return;
  validSpecs.add(digest);
  const [oldest] = validSpecs;
  if (validSpecs.size > validSpecsMax) validSpecs.delete(oldest!);
}

/** Checks the fields in Kubernetes' order. */
function checkWholeSpec(spec: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  const hoistedSpec = hoistSpec(spec);
  checkGroup(spec.group, errors);
  checkRequiredEnum(errors, 'spec.scope', spec.scope, ['Cluster', 'Namespaced']);
  checkSchemasPresent(hoistedSpec, errors);
  checkDefaultsAllowed(hoistedSpec, errors);
  for (const [index, version] of (hoistedSpec.versions ?? []).entries()) {
    checkVersion(version, { hoistedSpec, path: `spec.versions[${index}]`, errors });
  }
  checkVersionsTogether(hoistedSpec, errors);
  checkRequiredNames(spec.names, 'spec.names', errors);
  checkNameSyntax(spec.names, 'spec.names', errors);
  checkCommonParts(hoistedSpec, errors);
  checkConversion(spec, errors);
}

function checkGroup(group: string, errors: FieldErrors): void {
  if (group === '') {
    errors.required('spec.group');
    return;
  }
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) errors.invalid('spec.group', group, problems.join(','));
  else if (!group.includes('.')) {
    errors.invalid('spec.group', group, 'should be a domain with at least one dot');
  }
}

function checkSchemasPresent({ versions, validation }: HoistedSpec, errors: FieldErrors): void {
  if (validation?.openAPIV3Schema !== undefined) return;
  for (const [index, { schema }] of (versions ?? []).entries()) {
    if (schema?.openAPIV3Schema === undefined) {
      errors.required(`spec.versions[${index}].schema.openAPIV3Schema`);
    }
  }
}

function checkDefaultsAllowed({ spec, versions, validation }: HoistedSpec, errors: FieldErrors): void {
  if (spec.preserveUnknownFields !== true) return;
  const schemas = [validation, ...(versions ?? []).map(({ schema }) => schema)];
  const hasDefaults = schemas.some((each) =>
    [...allSchemas(each?.openAPIV3Schema)].some((schema) => schema.default !== undefined),
  );
  if (hasDefaults) {
    const detail = 'must be false in order to use defaults in the schema';
    errors.invalid('spec.preserveUnknownFields', true, detail);
  }
}

interface VersionPlace {
  readonly hoistedSpec: HoistedSpec;
  readonly path: string;
  readonly errors: FieldErrors;
}

function checkVersion(
  version: CustomResourceDefinitionVersion,
  { hoistedSpec, path, errors }: VersionPlace,
): void {
  const problem = labelProblem(version.name);
  if (problem !== '') errors.invalid(`${path}.name`, version.name, problem);
  checkDeprecation(version, path, errors);
  const hasStatus = (version.subresources ?? hoistedSpec.subresources)?.status !== undefined;
  checkSchema(version.schema, { path: `${path}.schema`, hasStatus, errors });
  checkSubresources(version.subresources, `${path}.subresources`, errors);
  checkColumns(version.additionalPrinterColumns ?? [], `${path}.additionalPrinterColumns`, errors);
  const { selectableFields = [], schema } = version;
  if (selectableFields.length === 0) return;
  if (schema?.openAPIV3Schema === undefined) {
    const detail = 'may only be set when `version.schema.openAPIV3Schema` is not included';
    errors.invalid(`${path}.selectableFields`, '', detail);
    return;
  }
  const unreadable = conversionProblem(schema.openAPIV3Schema);
  if (unreadable !== undefined) errors.invalid(`${path}.schema.openAPIV3Schema`, '', unreadable);
  const readable = unreadable === undefined ? schema.openAPIV3Schema : {};
  checkSelectableFields(selectableFields, readable, `${path}.selectableFields`, errors);
}

function checkVersionsTogether({ versions }: HoistedSpec, errors: FieldErrors): void {
  const all = versions ?? [];
  const path = 'spec.versions';
  if (new Set(all.map(({ name }) => name)).size < all.length) {
    errors.invalid(path, internalVersions(versions), 'must contain unique version names');
  }
  if (all.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.invalid(path, internalVersions(versions), detail);
  }
  // The internal form repeats the name of the first version in `spec.version`, so Kubernetes checks it there, too.
  const first = all[0]?.name ?? '';
  const problem = first === '' ? '' : labelProblem(first);
  if (problem !== '') errors.invalid('spec.version', first, problem);
}

/** The parts that all versions have in common. */
function checkCommonParts(hoistedSpec: HoistedSpec, errors: FieldErrors): void {
  const { validation, subresources, columns, selectableFields } = hoistedSpec;
  const isAnyStatus = [hoistedSpec, ...(hoistedSpec.versions ?? [])].some(
    (each) => each.subresources?.status !== undefined,
  );
  checkSchema(validation, { path: 'spec.validation', hasStatus: isAnyStatus, errors });
  checkSubresources(subresources, 'spec.subresources', errors);
  checkColumns(columns, 'spec.additionalPrinterColumns', errors);
  if (selectableFields.length === 0) return;
  if (validation === undefined) {
    const detail = 'may only be set when validations.schema is included';
    errors.invalid('spec.selectableFields', '', detail);
    return;
  }
  const schema = validation.openAPIV3Schema ?? {};
  const unreadable = conversionProblem(schema);
  if (unreadable !== undefined) errors.invalid('spec.schema.openAPIV3Schema', '', unreadable);
  const readable = unreadable === undefined ? schema : {};
  checkSelectableFields(selectableFields, readable, 'spec.selectableFields', errors);
}

function checkConversion(
  { conversion, preserveUnknownFields }: CustomResourceDefinitionSpec,
  errors: FieldErrors,
): void {
  if (conversion === undefined) return;
  const path = 'spec.conversion';
  if (conversion.strategy !== 'None' && preserveUnknownFields === true) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.invalid(`${path}.strategy`, conversion.strategy, detail);
  }
  checkRequiredEnum(errors, `${path}.strategy`, conversion.strategy, ['None', 'Webhook']);
  if (conversion.strategy === 'Webhook') {
    errors.forbidden(`${path}.strategy`, 'must be None, because this server calls no webhooks');
  } else checkNoWebhook(conversion, path, errors);
}

function checkNoWebhook({ webhook }: CustomResourceConversion, path: string, errors: FieldErrors): void {
  const detail = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.forbidden(`${path}.webhookClientConfig`, detail);
  if ((webhook?.conversionReviewVersions ?? []).length > 0) {
    errors.forbidden(`${path}.conversionReviewVersions`, detail);
  }
}
