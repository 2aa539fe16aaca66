import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BundledProgram } from './load-program.ts';

const files = {
  'main.cjs': `const other = require('./chunks/other.cjs');
    exports.sum = (a, b) => other.add(a, b);
    exports.separator = require('node:path').sep;
    exports.place = [__filename, __dirname];
    exports.later = () => require('./chunks/later.cjs').name;`,
  'chunks/other.cjs': `const main = require('../main.cjs');
    module.exports = { add(a, b) { return a + b; }, main };`,
  'chunks/later.cjs': "exports.name = 'later';",
};

interface Exports {
  sum(a: number, b: number): number;
  readonly separator: string;
  readonly place: readonly string[];
  later(): string;
}

test('files load each other, also in a circle, and modules of Node', () => {
  const main = writtenProgram(files);
  const { sum, separator, place } = new BundledProgram(new Map()).load(main) as Exports;
  expect([sum(1, 2), separator, place]).toEqual([3, '/', [main, join(main, '..')]]);
});

test('with the code of an earlier process nothing is compiled again, and there is nothing to save', () => {
  const main = writtenProgram(files);
  const first = new BundledProgram(new Map());
  (first.load(main) as Exports).sum(1, 2);
  const code = first.takeNewCode();
  expect([...(code ?? [])].map(([name]) => name)).toEqual(['main.cjs', 'other.cjs']);
  expect(first.takeNewCode()).toBeUndefined();
  const second = new BundledProgram(code ?? new Map());
  expect((second.load(main) as Exports).sum(3, 4)).toBe(7);
  expect(second.takeNewCode()).toBeUndefined();
});

test('a file that only a later process needs is added; the others stay', () => {
  const main = writtenProgram(files);
  const first = new BundledProgram(new Map());
  first.load(main);
  const second = new BundledProgram(first.takeNewCode() ?? new Map());
  expect((second.load(main) as Exports).later()).toBe('later');
  expect(second.takeNewCode()?.size).toBe(3);
});

test('code that V8 rejects is replaced', () => {
  const main = writtenProgram({ 'main.cjs': 'exports.answer = 42;' });
  const program = new BundledProgram(new Map([['main.cjs', Buffer.from('of another version of V8')]]));
  expect(program.load(main)).toEqual({ answer: 42 });
  expect(program.takeNewCode()?.get('main.cjs')?.length).toBeGreaterThan(100);
});

test('stack traces have the positions of the file', () => {
  const main = writtenProgram({ 'main.cjs': "throw new Error('first column');" });
  const load = () => new BundledProgram(new Map()).load(main);
  expect(stackOf(load)).toContain(`${main}:1:7`);
});

function stackOf(action: () => void): string {
  try {
    action();
  } catch (error) {
    return String((error as Error).stack);
  }
  return '';
}

function writtenProgram(contents: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-bundled-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'chunks'));
  for (const [path, text] of Object.entries(contents)) writeFileSync(join(folder, path), text);
  return join(folder, 'main.cjs');
}
