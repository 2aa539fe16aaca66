import { badRequest, conflict, failure, notFound } from '../../../kube/api-error.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../kube/go/json-value.ts';
import { apiVersionOf, type ObjectKey } from '../../../kube/resource.ts';
import { applyConfiguration } from '../../apply/apply-configuration.ts';
import { withLastApplied } from '../../apply/last-applied.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { ListElementError } from '../../managed-fields/list-elements.ts';
import { typeProblems } from '../../managed-fields/typed-check.ts';
import { UntypableError } from '../../managed-fields/typed-compare.ts';
import { type Mergeable, mergeShapeOf } from '../../patch/mergeable.ts';
import { checkPatchDepth } from '../../patch/patch-depth.ts';
import { PatchError } from '../../patch/patch-error.ts';
import { type ExpectedType, parseApiVersion } from '../../schema/group-version-kind.ts';
import { formOf } from '../../schema/object-form.ts';
import { findObject, type RegistryContext, timestamp } from '../context/registry-context.ts';
import type { RequestedPatch, UpdateContext, WriteResult } from '../registry.ts';
import { createThroughUpdate } from './create.ts';
import { checkObjectNames, replaceObject } from './update.ts';
import { versionedWrite } from './versioned-write.ts';

/** Server-side apply: creates a missing object, otherwise updates it as if the result had been sent by PUT. */
export async function applyObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  patch: RequestedPatch,
  write: UpdateContext,
): Promise<WriteResult> {
  const found = findObject(context, kind, key);
  const mayMake = write.subresource === undefined || kind.createOnUpdate === true;
  if (found === undefined && !mayMake) throw notFound(kind, key.name);
  const live = found?.snapshot.object ?? newObject(kind);
  const object = applyRequestedPatch(context, {
    expected: kind,
    live,
    patch,
    write,
    hasStatus: kind.hasStatus,
  });
  reportDuplicateFields(patch, write);
  const owned: UpdateContext = { ...write, hasFieldOwners: true };
  if (found !== undefined) {
    checkObjectNames(key, object);
    kind.defaults?.(object);
    return await replaceObject(context, kind, { found, object, write: owned });
  }
  const { uid = '' } = object.metadata;
  if (uid !== '') throw conflict(kind, key.name, uidMismatchMessage(uid));
  checkObjectNames(key, object);
  return { snapshot: await createThroughUpdate(context, kind, key, object, owned), created: true };
}

function newObject(expected: ServedKind): StoredObject {
  const { kind, group, version } = expected;
  const apiVersion = apiVersionOf({ group, version });
  return { ...formOf(expected).zero(), kind, apiVersion } as unknown as StoredObject;
}

function uidMismatchMessage(uid: string): string {
  return `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
}

/** The type that is applied to, and how it merges. */
type AppliedType = ExpectedType & Mergeable;

export interface RegistryApplyRequest {
  readonly expected: AppliedType;
  readonly live: StoredObject;
  readonly patch: RequestedPatch;
  readonly write: UpdateContext;
  readonly hasStatus: boolean;
}

/** Returns the object after the apply: typed, with its field owners, and owned by the caller. */
export function applyRequestedPatch(context: RegistryContext, request: RegistryApplyRequest): StoredObject {
  const { expected, live, patch, write, hasStatus } = request;
  const { subresource = '', manager } = write;
  const config = configOf(expected, patch.body);
  checkLiveWithoutOwners(expected, live);
  checkConfig(expected, config);
  checkLiveCustomObject(expected, live);
  const result = withMergeErrors(() =>
    applyConfiguration({
      live: live as unknown as JsonObject,
      config,
      ...versionedWrite(expected, hasStatus, subresource),
      manager,
      subresource,
      time: timestamp(context),
      force: patch.force === true,
    }),
  );
  const object = toTypedObject(expected, result.object ?? (live as unknown as JsonObject), config);
  const { metadata } = object;
  if (result.owners === undefined) delete metadata.managedFields;
  else metadata.managedFields = result.owners as typeof metadata.managedFields;
  if (manager === 'kubectl') {
    const noted = withLastApplied(object as unknown as JsonObject, config);
    if (noted !== undefined) metadata.annotations = noted;
  }
  return object;
}

/** A configuration must name its own kind. */
function configOf(expected: ExpectedType, body: unknown): JsonObject {
  const config = (isJsonObject(body) ? body : {}) as JsonObject;
  withPatchErrors(() => checkPatchDepth(config));
  const given = kindOf(config);
  if (given !== kindText(expected)) throw badRequest(`invalid object type: ${given}`);
  return config;
}

/** The configuration must not contain managedFields and must fit its type. */
function checkConfig(expected: AppliedType, config: JsonObject): void {
  if (isJsonObject(config.metadata) && isJsonArray(config.metadata.managedFields)) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const problem = typeProblems(config, mergeShapeOf(expected));
  if (problem === undefined) return;
  throw failure(500, undefined, `failed to create typed patch object (${nameOf(config)}): ${problem}`);
}

/** An object without field owners gets them now, which fails if its list elements cannot be identified. */
function checkLiveWithoutOwners(expected: AppliedType, live: StoredObject): void {
  if ((live.metadata.managedFields ?? []).length > 0) return;
  const object = live as unknown as JsonObject;
  const problem = typeProblems(object, mergeShapeOf(expected), { allowsDuplicates: true });
  if (problem === undefined) return;
  const why = `failed to convert new object (${nameOf(object)}) to smd typed: ${problem}`;
  throw failure(500, undefined, `failed to create manager for existing fields: ${why}`);
}

/** The definition may have changed since the object was stored. */
function checkLiveCustomObject(expected: AppliedType, live: StoredObject): void {
  const shape = mergeShapeOf(expected);
  if (!shape.isCustom) return;
  const object = live as unknown as JsonObject;
  const problem = typeProblems(object, shape, { allowsDuplicates: true });
  if (problem === undefined) return;
  throw failure(500, undefined, `failed to create typed live object (${nameOf(object)}): ${problem}`);
}

function kindOf({ apiVersion, kind }: JsonObject): string {
  const version = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined;
  const isReadable = version !== undefined || typeof apiVersion !== 'string';
  const name = typeof kind === 'string' && isReadable ? kind : '';
  return kindText({ group: version?.group ?? '', version: version?.version ?? '', kind: name });
}

function kindText({ group, version, kind }: Pick<ExpectedType, 'group' | 'version' | 'kind'>): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** The configuration's name in error messages. */
function nameOf(config: JsonObject): string {
  const { namespace, name } = isJsonObject(config.metadata) ? config.metadata : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}; ${kindOf(config)}`;
}

function toTypedObject(expected: ExpectedType, object: JsonObject, config: JsonObject): StoredObject {
  try {
    const { object: whole } = formOf(expected).normalize(object, { isMerged: true });
    const apiVersion = apiVersionOf(expected);
    return { ...whole, kind: expected.kind, apiVersion } as unknown as StoredObject;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const kind = kindText(expected);
    const why = `unable to convert unstructured object to ${kind}: ${error.message}`;
    throw failure(
      500,
      undefined,
      `failed to convert new object (${nameOf(config)}) to proper version: ${why}`,
    );
  }
}

function withMergeErrors<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (error instanceof UntypableError) throw failure(500, undefined, error.message);
    if (!(error instanceof ListElementError)) throw error;
    throw failure(500, undefined, `failed to merge config: ${error.message}`);
  }
}

function withPatchErrors(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof PatchError ? badRequest(error.message) : error;
  }
}

/** Reports duplicate keys of the text. The last value counts. */
function reportDuplicateFields(
  { fieldValidation, duplicateFields = [] }: RequestedPatch,
  write: UpdateContext,
): void {
  if (duplicateFields.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Warn') {
    for (const text of duplicateFields) write.warn(text);
    return;
  }
  const details = `yaml: unmarshal errors:\n  ${duplicateFields.join('\n  ')}`;
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${details}`);
}
