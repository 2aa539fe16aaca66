import fc from 'fast-check';

/** Damage during transport: truncated, flipped, duplicated or overwritten bytes. */
export function mutated(original: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const step = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    how: fc.constantFrom('cut', 'flip', 'drop', 'double', 'insert'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }),
  });
  const steps = fc.array(step, { minLength: 1, maxLength: 4 });
  return fc.tuple(original, steps).map(([bytes, all]) => all.reduce(applyStep, bytes));
}

interface Step {
  readonly at: number;
  readonly how: string;
  readonly bytes: Uint8Array;
}

function applyStep(original: Uint8Array, { at, how, bytes }: Step): Uint8Array {
  const index = Math.floor(at * original.length);
  const [head, tail] = [original.subarray(0, index), original.subarray(index)];
  switch (how) {
    case 'cut':
      return head;
    case 'flip':
      return Buffer.concat([head, bytes.subarray(0, tail.length), tail.subarray(bytes.length)]);
    case 'drop':
      return Buffer.concat([head, tail.subarray(bytes.length)]);
    case 'double':
      return Buffer.concat([head, tail.subarray(0, 40), tail]);
    default:
      return Buffer.concat([head, bytes, tail]);
  }
}

/** Pieces of JSON and YAML that are hard for parsers, to be inserted anywhere into a text. */
export const trickyTexts: readonly string[] = [
  '',
  ' ',
  'null',
  '[]',
  '{}',
  '""',
  'x',
  '{',
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"metadata":null}',
  '{"metadata":{"name":"x","name":"y","labels":{"__proto__":"x"}}}',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\\u0000"}}',
  '{"apiVersion":1,"kind":[]}',
  '{"apiVersion":"v1","kind":"List","items":[]}',
  '1e999',
  '-0',
  '123456789012345678901234567890',
  '"\\ud800"',
  '\ufeff{}',
  '{}{}',
  `${'['.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  'a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d]\n',
  `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: &c [${'*b,'.repeat(50)}]\nd: [${'*c,'.repeat(50)}]\n`,
  '<<: *missing',
  '&a {x: *a}',
  '? {a: b}\n: c',
  '!!binary x',
  '--- 1\n--- 2',
  '- "a\n  b: [',
];

/** Replaces a part of the text by the piece. */
export function spliced(text: string, piece: string, at: number): string {
  const index = Math.floor(at * text.length);
  return text.slice(0, index) + piece + text.slice(index);
}
