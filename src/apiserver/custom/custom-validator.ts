import type { CustomResourceSubresourceScale } from '../../kube/api/stored/apiextensions.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { compileRules, type RuleProgram } from '../cel/compile-rules.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { checkEmbedded } from '../structural/embedded-meta.ts';
import { checkLists } from '../structural/list-types.ts';
import { compileSchema, type SchemaValidator } from '../structural/validate.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { checkScaleFields } from './custom-scale.ts';

export interface CustomIdentity extends Pick<ServedKind, 'group' | 'version' | 'kind'> {
  readonly scale: CustomResourceSubresourceScale | undefined;
}

/** Validates objects of one version of a definition: schema, lists, embedded objects and CEL rules, in this order. */
export class CustomValidator {
  readonly #schema: JsonSchema;
  readonly #identity: CustomIdentity;
  #compiled: Compiled | undefined;
  #forgiven: string[] = [];

  constructor(schema: JsonSchema, identity: CustomIdentity) {
    this.#schema = schema;
    this.#identity = identity;
  }

  /** Compiled on first use: few of the kinds are written soon after a start. */
  get #checks(): Compiled {
    this.#compiled ??= compiled(this.#schema);
    return this.#compiled;
  }

  check(object: StoredObject, errors: FieldErrors): void {
    if (!this.#checkType(object, errors)) return;
    this.#checks.whole.validate(object, errors);
    this.#checkScale(object, errors, 'all');
    checkEmbedded(object, this.#schema, errors);
    checkLists(object, this.#schema, errors);
    this.#checkRules(object, undefined, errors);
  }

  checkUpdate(object: StoredObject, old: StoredObject, errors: FieldErrors): void {
    if (!this.#checkType(object, errors)) return;
    this.#checks.whole.validate(object, errors, { old });
    this.#checkScale(object, errors, 'all');
    checkEmbedded(object, this.#schema, errors);
    this.#checkListsUnlessOld(object, old, errors);
    this.#checkRules(object, old, errors);
  }

  checkStatus(object: StoredObject, old: StoredObject, errors: FieldErrors): void {
    if (!this.#checkType(object, errors)) return;
    const { status } = object as { status?: unknown };
    const before = (old as { status?: unknown }).status;
    if (status !== undefined) this.#checks.status?.validate(status, errors, { path: 'status', old: before });
    this.#checkScale(object, errors, 'status');
    this.#checkListsUnlessOld(object, old, errors);
    this.#checkRules(object, old, errors);
  }

  #checkType(object: StoredObject, errors: FieldErrors): boolean {
    const { kind } = this.#identity;
    const apiVersion = apiVersionOf(this.#identity);
    const { count } = errors;
    if (object.kind !== kind) errors.invalid('kind', object.kind, `must be ${kind}`);
    if (object.apiVersion !== apiVersion)
      errors.invalid('apiVersion', object.apiVersion, `must be ${apiVersion}`);
    return errors.count === count;
  }

  #checkScale(object: StoredObject, errors: FieldErrors, fields: 'all' | 'status'): void {
    const { scale } = this.#identity;
    if (scale !== undefined) checkScaleFields(object, scale, errors, fields);
  }

  /** Invalid lists may stay if they were invalid before (ratcheting). */
  #checkListsUnlessOld(object: StoredObject, old: StoredObject, errors: FieldErrors): void {
    const before = new FieldErrors();
    checkLists(old, this.#schema, before);
    if (before.isEmpty) checkLists(object, this.#schema, errors);
  }

  /**
   * Returns errors that the last check tolerated because the old object had them too, as warnings. Nothing awaits
   * between a check and this call, so they belong to the same object.
   */
  takeRatchetingWarnings(): readonly string[] {
    const forgiven = this.#forgiven;
    this.#forgiven = [];
    return forgiven;
  }

  /** CEL rules may rely on the schema; they are skipped if the object violates it in a way that affects their cost. */
  #checkRules(object: StoredObject, old: StoredObject | undefined, errors: FieldErrors): void {
    this.#forgiven = [];
    const { rules } = this.#checks;
    if (rules === undefined) return;
    if (errors.causes.some(({ reason }) => blockingReasons.has(reason ?? ''))) {
      errors.invalid('<nil>', null, unchecked);
      return;
    }
    const warn = (text: string) => void this.#forgiven.push(text);
    rules.validate({ value: object, old, errors, warn });
  }
}

interface Compiled {
  readonly whole: SchemaValidator;
  readonly status: SchemaValidator | undefined;
  readonly rules: RuleProgram | undefined;
}

function compiled(schema: JsonSchema): Compiled {
  const status = schema.properties?.status;
  return {
    whole: compileSchema(schema),
    status: status === undefined ? undefined : compileSchema(status),
    rules: compileRules(schema, { isResourceRoot: true }),
  };
}

/** Errors that void the bounds by which rule costs were estimated. */
const blockingReasons = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
