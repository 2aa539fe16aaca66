import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Clock } from '../../runtime/clock.ts';
import { outputFormatOf, structured } from './output-format.ts';
import { Progress } from './progress.ts';
import { styleOf, widthOf } from './style.ts';
import { table } from './table.ts';
import { plainTerminal, type Terminal, terminalOf } from './terminal.ts';
import { wrap } from './wrap.ts';

describe('a format', () => {
  test('is one of those that are offered', () => {
    expect(outputFormatOf('yaml')).toBe('yaml');
    expect(() => outputFormatOf('xml')).toThrow('-o: "xml" must be one of table, wide, json, yaml, name');
  });

  test('for programs leaves out what is undefined, and ends in a new line', () => {
    expect(structured({ a: 1, b: undefined }, 'json')).toBe('{\n  "a": 1\n}\n');
    expect(structured({ a: [1], b: undefined }, 'yaml')).toBe('a:\n  - 1\n');
  });
});

test('64-bit integers are exact in both formats', () => {
  const value = { size: 9223372036854775807n };
  expect(structured(value, 'json')).toBe('{\n  "size": 9223372036854775807\n}\n');
  expect(structured(value, 'yaml')).toBe('size: 9223372036854775807\n');
});

describe('a terminal', () => {
  test.each<[string, { isTTY?: boolean; columns?: number }, NodeJS.ProcessEnv, Terminal]>([
    ['a file has neither', {}, {}, plainTerminal],
    ['colour', { isTTY: true, columns: 100 }, {}, { width: 100, hasColour: true, isInteractive: true }],
    ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, { width: 80, hasColour: false, isInteractive: true }],
    [
      'NO_COLOR unset',
      { isTTY: true },
      { NO_COLOR: '' },
      { width: 80, hasColour: true, isInteractive: true },
    ],
    ['dumb', { isTTY: true }, { TERM: 'dumb' }, { width: 80, hasColour: false, isInteractive: true }],
    ['tiny', { isTTY: true, columns: 9 }, {}, { width: 40, hasColour: true, isInteractive: true }],
  ])('%s', (_, stream, env, expected) => {
    expect(terminalOf(stream, env)).toEqual(expected);
  });

  test('without colour gets none', () => {
    expect(styleOf({ hasColour: false }).bad('no')).toBe('no');
    expect(styleOf({ hasColour: true }).bad('no')).toBe('\u001b[31mno\u001b[39m');
    expect(widthOf(styleOf({ hasColour: true }).bad('no'))).toBe(2);
  });
});

describe('lines', () => {
  test('are broken between words, and hang', () => {
    expect(wrap('one two three four', { width: 11, indent: 1 })).toEqual([' one two', '   three', '   four']);
    expect(wrap('averyveryverylongword b', { width: 5 })).toEqual(['averyveryverylongword', '  b']);
    expect(wrap('one two three', { width: undefined, indent: 2 })).toEqual(['  one two three']);
  });

  const columns = [
    { title: 'NODE', cell: ({ node }: { node: string }) => node },
    { title: 'N', cell: ({ node }: { node: string }) => String(node.length), align: 'right' as const },
    { title: 'BY', cell: () => 'a person', isMinor: true as const },
    { title: 'WHY', cell: () => 'because it is so, and for no other reason' },
  ];
  const rows = [{ node: 'a' }, { node: 'abcdefghijklmnopqrst' }];

  test.each([
    [
      undefined,
      [
        'NODE                    N   BY         WHY',
        'a                       1   a person   because it is so, and for no other reason',
        'abcdefghijklmnopqrst   20   a person   because it is so, and for no other reason',
      ],
    ],
    [
      52,
      [
        'NODE                N   BY         WHY',
        'a                   1   a person   because it is so…',
        'abcdefgh…nopqrst   20   a person   because it is so…',
      ],
    ],
    [
      40,
      [
        'NODE                N   WHY',
        'a                   1   because it is s…',
        'abcdefgh…nopqrst   20   because it is s…',
      ],
    ],
    [
      24,
      [
        'NODE a, N 1, BY a',
        '  person, WHY because it',
        '  is so, and for no',
        '  other reason',
        'NODE abcdefghijklmnopqrst,',
        '  N 20, BY a person,',
        '  WHY because it is so,',
        '  and for no other',
        '  reason',
      ],
    ],
  ])(
    'of a table for %s columns of text give way, then minor columns, then the columns',
    (width, expected) => {
      expect(table(columns, rows, { width })).toEqual(expected);
    },
  );

  test('of a table tell names apart that differ in the middle', () => {
    const names = ['node-1.compute.internal', 'node-2.compute.internal'].map((node) => ({ node, n: 1 }));
    const two = [
      { title: 'NODE', cell: ({ node }: { readonly node: string }) => node },
      { title: 'N', cell: ({ n }: { readonly n: number }) => String(n), align: 'right' as const },
    ];
    expect(table(two, names, { width: 20 })[1]).toBe('node-1.c…nternal   1');
    expect(table(two, names, { width: 14 })).toEqual([
      'NODE node-1.compute.internal,',
      '  N 1',
      'NODE node-2.compute.internal,',
      '  N 1',
    ]);
  });

  test('of a table keep what has a colour whole', () => {
    const painted = [
      { title: 'STATE', cell: () => styleOf({ hasColour: true }).bad('a long state of things') },
    ];
    expect(table(painted, [{}], { width: 12 })[0]).toContain('a long state of things');
  });
});

describe('progress', () => {
  function rendered(terminal: Terminal, times: readonly number[]): string[] {
    const written: string[] = [];
    let nowMs = 0;
    const clock = { nowMs: () => nowMs } as Clock;
    const progress = new Progress(terminal, clock, (text) => written.push(text));
    for (const time of times) {
      nowMs = time;
      progress.tell(`at ${time}`);
    }
    progress.end();
    return written;
  }

  const screen: Terminal = { width: 80, hasColour: true, isInteractive: true };

  test('appears after a second, not too often, and is removed at the end', () => {
    expect(rendered(screen, [10, 999, 1100, 1150, 1400])).toEqual([
      '\r\u001b[Kat 1100',
      '\r\u001b[Kat 1400',
      '\r\u001b[K',
    ]);
  });

  test('leaves no trace of what was quick, nor in a file', () => {
    expect(rendered(screen, [10, 999])).toEqual([]);
    expect(rendered(plainTerminal, [2000, 3000])).toEqual([]);
  });
});

describe('text of others', () => {
  const hostile = 'a\u001b[2J\u009b1m\u202eb';
  const clean = 'a [2J 1m b';

  test('is cleaned in every style, also of colours', () => {
    for (const style of [styleOf({ hasColour: true }), styleOf({ hasColour: false })])
      for (const paint of Object.values(style)) expect(paint(hostile)).toContain(clean);
    expect(styleOf({ hasColour: false }).bad('\u001b[31mred')).toBe(' [31mred');
  });

  test('is cleaned in tables, where our own colours stay', () => {
    const { bad } = styleOf({ hasColour: true });
    const columns = [{ title: 'NAME', cell: (name: string) => `${name} ${bad('x')}` }];
    expect(table(columns, [hostile], { width: undefined })[1]).toBe(`${clean} \u001b[31mx\u001b[39m`);
  });

  test('is escaped in JSON and YAML, and reads the same', () => {
    const value = { name: hostile, 'k\u202ey': ['plain'] };
    expect(structured(value, 'json')).toContain('"a\\u001b[2J\\u009b1m\\u202eb"');
    expect(JSON.parse(structured(value, 'json'))).toEqual(value);
    const yaml = structured(value, 'yaml');
    expect(yaml).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(parse(yaml)).toEqual(value);
  });
});
