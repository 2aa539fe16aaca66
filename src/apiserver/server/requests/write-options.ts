import type { DeletionPropagation } from '../../../kube/api/meta.ts';
import type { Int64 } from '../../../kube/api/stored/meta.ts';
import { invalid } from '../../../kube/api-error.ts';
import { isPrintable } from '../../../kube/go/quote.ts';
import type { DeletionRequest, PatchType } from '../../registry/registry.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { boolParameter, int64Parameter, textParameter } from './query-values.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteRequestOptions {
  readonly dryRun: boolean;
  /** The field manager of the write; by default the program's name from the user agent. */
  readonly manager: string;
  readonly fieldValidation: FieldValidation;
}

export interface PatchRequestOptions extends WriteRequestOptions {
  readonly force: boolean | undefined;
}

const managerMaxBytes = 128;

export function readWriteOptions(
  query: URLSearchParams,
  userAgent: string | undefined,
  optionsKind: 'CreateOptions' | 'UpdateOptions',
): WriteRequestOptions {
  const errors = new FieldErrors();
  checkCommon(query, errors);
  throwIfInvalid(optionsKind, errors);
  return commonOptions(query, userAgent);
}

export function readPatchOptions(
  query: URLSearchParams,
  userAgent: string | undefined,
  type: PatchType,
): PatchRequestOptions {
  const errors = new FieldErrors();
  const force = boolParameter(query, 'force');
  if (type === 'apply') {
    if (textParameter(query, 'fieldManager') === undefined) {
      // The owner of the fields must be identifiable later.
      errors.required('fieldManager', 'is required for apply patch');
    }
  } else if (force !== undefined) {
    errors.forbidden('force', 'may not be specified for non-apply patch');
  }
  checkCommon(query, errors);
  throwIfInvalid('PatchOptions', errors);
  return { ...commonOptions(query, userAgent), force };
}

/** The options of a deletion before validation. */
export interface DeleteRequestOptions {
  readonly gracePeriodSeconds?: Int64 | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly dryRun?: readonly string[] | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined;
}

/** The query is used only if the request has no body. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteRequestOptions {
  return {
    gracePeriodSeconds: int64Parameter(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: boolParameter(query, 'orphanDependents'),
    dryRun: query.getAll('dryRun'),
    ignoreStoreReadErrorWithClusterBreakingPotential: boolParameter(
      query,
      'ignoreStoreReadErrorWithClusterBreakingPotential',
    ),
  };
}

export function validateDeleteOptions(options: DeleteRequestOptions): {
  readonly request: DeletionRequest;
  readonly dryRun: boolean;
} {
  const errors = new FieldErrors();
  const {
    propagationPolicy: policy,
    orphanDependents,
    dryRun = [],
    preconditions,
    gracePeriodSeconds,
  } = options;
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.invalid(
      'propagationPolicy',
      policy,
      'orphanDependents and deletionPropagation cannot be both set',
    );
  }
  if (policy !== undefined && !isPolicy(policy)) {
    errors.notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']);
  }
  checkDryRun(dryRun, errors);
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    // All objects in our store are readable. Accepting the option silently would be misleading.
    const reason = 'is not supported by this server';
    errors.forbidden('ignoreStoreReadErrorWithClusterBreakingPotential', reason);
  }
  throwIfInvalid('DeleteOptions', errors);
  const request: DeletionRequest = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(policy !== undefined && isPolicy(policy) ? { propagationPolicy: policy } : {}),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
  return { request, dryRun: dryRun.length > 0 };
}

function isPolicy(text: string): text is DeletionPropagation {
  return text === 'Foreground' || text === 'Background' || text === 'Orphan';
}

function commonOptions(query: URLSearchParams, userAgent: string | undefined): WriteRequestOptions {
  return {
    dryRun: query.has('dryRun'),
    manager: textParameter(query, 'fieldManager') ?? managerOf(userAgent),
    fieldValidation: (textParameter(query, 'fieldValidation') as FieldValidation | undefined) ?? 'Warn',
  };
}

function checkCommon(query: URLSearchParams, errors: FieldErrors): void {
  const manager = query.get('fieldManager') ?? '';
  if (Buffer.byteLength(manager) > managerMaxBytes) errors.tooLong('fieldManager', managerMaxBytes);
  const invalidIndex = [...manager].findIndex((character) => !isPrintable(character));
  if (invalidIndex >= 0)
    errors.invalid('fieldManager', manager, invalidCharacterMessage(manager, invalidIndex));
  checkDryRun(query.getAll('dryRun'), errors);
  const validation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(validation)) {
    errors.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']);
  }
}

function invalidCharacterMessage(manager: string, index: number): string {
  const characters = [...manager];
  const code = (characters[index]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const position = Buffer.byteLength(characters.slice(0, index).join(''));
  return `invalid character U+${code} (at position ${position})`;
}

function checkDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== 'All')) errors.notSupported('dryRun', values, ['All']);
}

function throwIfInvalid(kind: string, errors: FieldErrors): void {
  if (!errors.isEmpty) throw invalid({ group: 'meta.k8s.io', kind }, '', errors.causes);
}

/** `kubectl/v1.36.3 (linux/amd64) ...` becomes `kubectl`; unprintable characters are dropped. */
function managerOf(userAgent: string | undefined): string {
  const program = (userAgent ?? '').split('/')[0] ?? '';
  const printable = [...program].filter(isPrintable);
  let manager = '';
  for (const character of printable) {
    if (Buffer.byteLength(manager + character) > managerMaxBytes) break;
    manager += character;
  }
  return manager === '' ? 'unknown' : manager;
}
