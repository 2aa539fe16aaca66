import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import * as names from './names.ts';
import { checkFieldManager } from './object-meta.ts';

/** Answers of Kubernetes' own validation code; `testing/README.md` says how they were recorded. */
interface Vector {
  readonly check: string;
  readonly given: unknown;
  readonly answer: string | readonly string[];
}

const vectors: readonly Vector[] = readFileSync(new URL('./testing/vectors.ndjson', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('names have the same problems as in Kubernetes', () => {
  const rules: Readonly<Record<string, (text: string) => names.Problems>> = {
    dnsSubdomain: (text) => names.nameRules.dnsSubdomain(text, false),
    dnsSubdomainPrefix: (text) => names.nameRules.dnsSubdomain(text, true),
    dnsLabel: (text) => names.nameRules.dnsLabel(text, false),
    dnsLabelPrefix: (text) => names.nameRules.dnsLabel(text, true),
    dns1035Label: (text) => names.nameRules.dns1035Label(text, false),
    pathSegment: (text) => names.nameRules.pathSegment(text, false),
    pathSegmentPrefix: (text) => names.nameRules.pathSegment(text, true),
    qualifiedName: names.qualifiedNameProblems,
    labelValue: names.labelValueProblems,
    portName: names.portNameProblems,
    wildcardSubdomain: names.wildcardSubdomainProblems,
    cIdentifier: names.cIdentifierProblems,
    configKey: names.configKeyProblems,
    envVarName: names.envVarNameProblems,
    httpHeaderName: names.httpHeaderNameProblems,
    percent: names.percentProblems,
  };

  test.each(Object.entries(rules))('%s', (check, rule) => {
    for (const { given, answer } of vectorsOf(check)) {
      expect({ given, problems: rule(given as string) }).toEqual({ given, problems: answer });
    }
  });

  test.each([
    ['portNumber', names.portNumberProblems],
    ['userId', names.idProblems],
  ] as const)('%s', (check, rule) => {
    for (const { given, answer } of vectorsOf(check)) expect(rule(given as number)).toEqual(answer);
  });
});

describe('errors have the same texts as in Kubernetes', () => {
  type ReportError = (errors: FieldErrors, given: never) => void;
  const reporters: Readonly<Record<string, ReportError>> = {
    invalid: (errors, given: unknown) => errors.invalid('f', given, 'detail'),
    typeInvalid: (errors, given: unknown) => errors.typeInvalid('f', given, 'detail'),
    duplicate: (errors, given: unknown) => errors.duplicate('f', given),
    notFound: (errors, given: unknown) => errors.notFound('f', given),
    notSupported: (errors, given: unknown) => errors.notSupported('f', given, ['x', 'y"z']),
    notSupportedEmpty: (errors, given: unknown) => errors.notSupported('f', given, []),
    requiredPlain: (errors) => errors.required('f'),
    required: (errors, given: string) => errors.required('f', given),
    forbidden: (errors, given: string) => errors.forbidden('f', given),
    internal: (errors, given: string) => errors.internal('f', given),
    tooLong: (errors, given: number) => errors.tooLong('f', given),
    tooLongCharacters: (errors, given: number) => errors.tooLongCharacters('f', given),
    tooShort: (errors, given: number) => errors.tooShort('f', given),
    tooMany: (errors, given: number) => errors.tooMany('f', 7, given),
    tooManyWithoutCount: (errors, given: number) => errors.tooMany('f', -1, given),
    tooFew: (errors, given: number) => errors.tooFew('f', 3, given),
  };

  test.each(Object.entries(reporters))('%s', (check, report) => {
    for (const { given, answer } of vectorsOf(check)) {
      const errors = new FieldErrors();
      report(errors, given as never);
      expect(errors.causes.map(({ message }) => message)).toEqual([answer]);
    }
  });

  test('fieldManager', () => {
    for (const { given, answer } of vectorsOf('fieldManager')) {
      const errors = new FieldErrors();
      checkFieldManager(errors, 'f', given as string);
      expect(errors.causes.map(({ message }) => message)).toEqual(answer);
    }
  });
});

function vectorsOf(check: string): readonly Vector[] {
  const found = vectors.filter((vector) => vector.check === check);
  if (found.length === 0) throw new Error(`no vectors for ${check}`);
  return found;
}
