import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import { isWatchRequest, readListOptions } from './list-options.ts';
import {
  deleteOptionsFromQuery,
  readPatchOptions,
  readWriteOptions,
  validateDeleteOptions,
} from './write-options.ts';

const match = 'resourceVersionMatch: ';
const noContinue = `${match}Forbidden: resourceVersionMatch is forbidden when continue is provided`;
const needsVersion = `${match}Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`;
const needsMatch = `${match}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`;
const needsEvents = `${match}Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`;

describe('options of a list', () => {
  test.each([
    ['limit=a', 400, 'strconv.ParseInt: parsing "a": invalid syntax'],
    ['limit=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=1.5', 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    [
      'limit=99999999999999999999',
      400,
      'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
    ['timeoutSeconds=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['resourceVersionMatch=Exact', 422, needsVersion],
    [
      'resourceVersionMatch=Foo&resourceVersion=1',
      422,
      `${match}Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""`,
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      `${match}Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    ['continue=abc&resourceVersionMatch=Exact', 422, `[${needsVersion}, ${noContinue}]`],
    ['sendInitialEvents=true', 422, 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    ['sendInitialEvents=x', 422, 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
  ])('%s are refused with %i', (query, code, message) => {
    expect(refusal(() => list(query))).toEqual(expectedError(code, 'ListOptions', message));
  });

  test.each([
    ['limit=-1', { limit: undefined }],
    ['limit=0', { limit: undefined }],
    ['limit=5&limit=6', { limit: 5 }],
    ['labelSelector=a%3Db&fieldSelector=', { labelSelector: 'a=b', fieldSelector: undefined }],
    ['resourceVersion=7&resourceVersionMatch=Exact', { resourceVersion: '7', resourceVersionMatch: 'Exact' }],
    ['continue=abc&resourceVersion=3', { continue: 'abc', resourceVersion: '3' }],
  ])('%s are read', (query, expected) => {
    expect(list(query).list).toMatchObject(expected);
  });
});

describe('options of a watch', () => {
  test.each([
    ['sendInitialEvents=true', needsMatch],
    [
      'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
      `[${needsMatch}, ${match}Unsupported value: "Exact": supported values: "NotOlderThan"]`,
    ],
    ['resourceVersionMatch=NotOlderThan', needsEvents],
    ['resourceVersion=5&resourceVersionMatch=NotOlderThan', needsEvents],
    ['continue=abc', noContinue],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc', noContinue],
  ])('%s are refused', (query, message) => {
    expect(refusal(() => watch(query))).toEqual(expectedError(422, 'ListOptions', message));
  });

  test.each([
    ['', { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', bookmarks: false }],
    ['resourceVersion=0', { sendInitialEvents: true }],
    ['resourceVersion=5', { sendInitialEvents: undefined, resourceVersionMatch: undefined }],
    ['allowWatchBookmarks=1', { bookmarks: true }],
    ['allowWatchBookmarks=FALSE', { bookmarks: false }],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', { sendInitialEvents: false }],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', { sendInitialEvents: true }],
    ['resourceVersion=5&continue=abc', { resourceVersion: '5' }],
  ])('%s are read', (query, expected) => {
    expect(watch(query).watch).toMatchObject(expected);
  });

  test.each([
    ['timeoutSeconds=7', 7],
    ['timeoutSeconds=0', undefined],
    ['timeoutSeconds=-1', undefined],
  ])('%s last that long', (query, expected) => {
    expect(watch(query).timeoutSeconds).toBe(expected);
  });

  test.each([
    ['watch=true', true],
    ['watch=1', true],
    ['watch=foo', true],
    ['watch=', true],
    ['watch=0', false],
    ['watch=False', false],
    ['', false],
  ])('are requested by %s: %s', (query, expected) => {
    expect(isWatchRequest(new URLSearchParams(query))).toBe(expected);
  });
});

describe('options of a write', () => {
  test.each([
    ['dryRun=x', 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    ['dryRun=', 'dryRun: Unsupported value: [""]: supported values: "All"'],
    ['dryRun=All&dryRun=x', 'dryRun: Unsupported value: ["All","x"]: supported values: "All"'],
    [
      'fieldValidation=x',
      'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      'fieldManager=a%00b',
      'fieldManager: Invalid value: "a\\x00b": invalid character U+0000 (at position 1)',
    ],
    [`fieldManager=${'x'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
  ])('%s are refused', (query, message) => {
    const read = () => readWriteOptions(new URLSearchParams(query), undefined, 'CreateOptions');
    expect(refusal(read)).toEqual(expectedError(422, 'CreateOptions', message));
  });

  test.each([
    ['', 'kubectl/v1.36.3 (linux/amd64)', { manager: 'kubectl', dryRun: false, fieldValidation: 'Warn' }],
    ['fieldManager=me', 'kubectl/v1', { manager: 'me' }],
    [
      'dryRun=All&fieldValidation=Strict',
      undefined,
      { dryRun: true, fieldValidation: 'Strict', manager: 'unknown' },
    ],
    ['fieldValidation=', `${'y'.repeat(200)}/1`, { fieldValidation: 'Warn', manager: 'y'.repeat(128) }],
    ['', 'a\u0001b/1', { manager: 'ab' }],
  ])('%s of %s are read', (query, userAgent, expected) => {
    const options = readWriteOptions(new URLSearchParams(query), userAgent, 'UpdateOptions');
    expect(options).toMatchObject(expected);
  });
});

describe('options of a patch', () => {
  test.each([
    ['force=true', 'merge', 'force: Forbidden: may not be specified for non-apply patch'],
    ['force=x', 'json', 'force: Forbidden: may not be specified for non-apply patch'],
    ['', 'apply', 'fieldManager: Required value: is required for apply patch'],
  ] as const)('%s of type %s are refused', (query, type, message) => {
    const read = () => readPatchOptions(new URLSearchParams(query), 'x/1', type);
    expect(refusal(read)).toEqual(expectedError(422, 'PatchOptions', message));
  });

  test('may force an apply', () => {
    const options = readPatchOptions(new URLSearchParams('force=1&fieldManager=me'), 'x/1', 'apply');
    expect(options).toMatchObject({ force: true, manager: 'me' });
  });
});

describe('options of a deletion', () => {
  test.each([
    ['dryRun=x', 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    [
      'propagationPolicy=x',
      'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'orphanDependents=true&propagationPolicy=Orphan',
      'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      'ignoreStoreReadErrorWithClusterBreakingPotential=true',
      'ignoreStoreReadErrorWithClusterBreakingPotential: Forbidden: is not supported by this server',
    ],
  ])('%s are refused', (query, message) => {
    const read = () => validateDeleteOptions(deleteOptionsFromQuery(new URLSearchParams(query)));
    expect(refusal(read)).toEqual(expectedError(422, 'DeleteOptions', message));
  });

  test('are read from a query', () => {
    const query = new URLSearchParams('gracePeriodSeconds=5&propagationPolicy=Foreground&dryRun=All');
    expect(validateDeleteOptions(deleteOptionsFromQuery(query))).toEqual({
      request: { gracePeriodSeconds: 5, propagationPolicy: 'Foreground' },
      dryRun: true,
    });
  });
});

function list(query: string) {
  return readListOptions(new URLSearchParams(query), undefined, false);
}

function watch(query: string) {
  return readListOptions(new URLSearchParams(query), undefined, true);
}

/** A 400 has only the message; a 422 also names the options kind. */
function expectedError(code: number, kind: string, message: string) {
  return { code, message: code === 400 ? message : `${kind}.meta.k8s.io "" is invalid: ${message}` };
}

function refusal(read: () => unknown) {
  try {
    read();
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, message: error.message };
    throw error;
  }
  return 'accepted';
}
