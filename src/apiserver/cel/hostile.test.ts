import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../schema/json-schema.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { compileRules } from './compile-rules.ts';
import { runExpression } from './testing/run-expression.ts';

const emptySubject = { schema: { type: 'object', properties: {} }, value: {} } as const;

describe('Hostile expressions', () => {
  const many = (count: number, text: string): string => text.repeat(count);

  test.each([
    { name: 'brackets within brackets', text: `${many(250, '(')}1${many(250, ')')}` },
    { name: 'lists within lists', text: `${many(5000, '[')}1${many(5000, ']')}` },
    { name: 'conditions within conditions', text: `${many(300, 'true?1:')}1` },
  ])('$name are refused by how deep they nest', ({ text }) => {
    expect(runExpression(text, emptySubject).compile).toContain('expression recursion limit exceeded: 250');
  });

  test.each([
    { name: 'a long sum', text: `1${many(251, '+1')}` },
    { name: 'a long way', text: `self${many(20_000, '.a')}` },
    { name: 'many indexes', text: `self${many(251, '[0]')}` },
    { name: 'many calls', text: `self${many(251, '.a()')}` },
  ])('$name is refused by how deep it is', ({ text }) => {
    expect(runExpression(text, emptySubject).compile).toBe(
      'ERROR: <input>:-1:0: max recursion depth exceeded',
    );
  });

  test('nesting up to the limit is evaluated', () => {
    const deepest = `${many(249, '(')}1${many(249, ')')}`;
    expect(runExpression(deepest, emptySubject).value).toBe('1');
    expect(runExpression(`1${many(250, '+1')}`, emptySubject).value).toBe('251');
    const loops = `${many(248, '[1].all(x, ')}true${many(248, ')')}`;
    expect(runExpression(loops, emptySubject).value).toBe('true');
  });

  test('many terms, signs and elements are evaluated', () => {
    expect(runExpression(`true${many(9000, '&&true')}`, emptySubject).value).toBe('true');
    expect(runExpression(`${many(50_000, '!')}true`, emptySubject).value).toBe('true');
    expect(runExpression(`[${many(20_000, '1,')}].size()`, emptySubject).value).toBe('20000');
    expect(runExpression(`[${many(10_000, '[],')}].size()`, emptySubject).value).toBe('10000');
  });

  test('a text of more than 100,000 code points is refused', () => {
    expect(runExpression(`'${many(100_000, 'a')}'`, emptySubject).compile).toBe(
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002, limit 100000',
    );
  });

  test('macros that repeat their operand are limited', () => {
    const doubled = `optional.of(1)${many(200, '.optMap(x, x)')}`;
    expect(runExpression(doubled, emptySubject).compile).toContain('exceeds 200000 nodes');
  });

  test.each([
    { name: 'unfinished texts', text: many(20_000, '"a ') },
    { name: 'quotes', text: many(50_001, '"') },
    { name: 'backslashes in a text', text: `'${many(40_000, '\\\\')}` },
    { name: 'letters that fit nowhere', text: many(50_000, '@') },
    { name: 'words that are not an expression', text: many(20_000, '1 ') },
  ])('$name are complained about', ({ text }) => {
    expect(runExpression(text, emptySubject).compile).toContain('Syntax error');
  });

  test('loops end at the cost limit', () => {
    const text = `lists.range(1000).all(x, lists.range(1000).all(y, lists.range(1000).all(z, true)))`;
    expect(runExpression(text, emptySubject).error).toBe('operation cancelled: actual cost limit exceeded');
    const endless = runExpression('lists.range(9223372036854775807)', emptySubject);
    expect(endless.error).toBe('operation cancelled: actual cost limit exceeded');
  });

  test('patterns take linear time', () => {
    const text = `'${many(30_000, 'a')}!'.matches('^(a+)+$')`;
    expect(runExpression(text, emptySubject).value).toBe('false');
  });

  test.each([
    { call: 'self.s.trim().size()', value: `x${' '.repeat(200_000)}x`, wanted: '200002' },
    { call: 'isQuantity(self.s)', value: `${'1'.repeat(200_000)}x`, wanted: 'false' },
    { call: 'isSemver(self.s)', value: `1.${'1'.repeat(200_000)}.1`, wanted: 'false' },
    { call: 'isURL(self.s)', value: `http://${'1:'.repeat(100_000)}`, wanted: 'false' },
    { call: 'isIP(self.s)', value: '1:'.repeat(100_000), wanted: 'false' },
    { call: 'url(self.s).getQuery().x.size()', value: `/?${'x&'.repeat(100_000)}`, wanted: '100000' },
  ])('$call takes no long time for a long text', ({ call, value, wanted }) => {
    const schema: JsonSchema = { type: 'object', properties: { s: { type: 'string' } } };
    expect(runExpression(call, { schema, value: { s: value } }).value).toBe(wanted);
  });

  test.each([
    { call: 'int(self.s) == 1', value: '1'.repeat(200_000), wanted: "from 'string' to 'int'" },
    { call: 'double(self.s) == 1.0', value: `${'1'.repeat(200_000)}x`, wanted: "from 'string' to 'double'" },
    {
      call: "duration(self.s) == duration('1s')",
      value: '1'.repeat(200_000),
      wanted: 'google.protobuf.Duration',
    },
  ])('$call fails for a long text', ({ call, value, wanted }) => {
    const schema: JsonSchema = { type: 'object', properties: { s: { type: 'string' } } };
    expect(runExpression(call, { schema, value: { s: value } }).error).toContain(wanted);
  });

  test('names that every JavaScript object inherits are not fields', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(runExpression(`{'a': 1}.${name}`, emptySubject).error).toBe(`no such key: ${name}`);
      expect(runExpression(`self.${name}`, emptySubject).compile).toContain(`undefined field '${name}'`);
      expect(runExpression(`${name}(1)`, emptySubject).compile).toContain(
        `undeclared reference to '${name}'`,
      );
    }
  });

  test('validation stops when the budget is used up', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.size() < 100' }] },
        },
      },
    };
    const errors = new FieldErrors();
    const value = { list: Array.from({ length: 1000 }, () => 'a') };
    const program = compileRules(schema, { isResourceRoot: true });
    expect(program?.validate({ value, errors, costLimit: 100 })).toBe(-1);
    expect(errors.causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'list[33]',
        message:
          'Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will be run',
      },
    ]);
  });
});
