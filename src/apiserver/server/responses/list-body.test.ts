import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { jsonText } from '../../../kube/go/json-text.ts';
import { type ListBody, listJson, listPieces, yamlOptions } from './list-body.ts';

function bodyOf(fields: object, listField: ListBody['listField'], elements: readonly unknown[]): ListBody {
  const made = elements.map((each) => {
    const json = Buffer.from(jsonText(each));
    return { json: [json.subarray(0, 1), json.subarray(1)], workBytes: json.length };
  });
  return { fields, listField, elements: made };
}

async function textOf(body: ListBody, format: { media: 'json' | 'yaml'; isPretty: boolean }) {
  const pieces: Uint8Array[] = [];
  for await (const piece of listPieces(body, format)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
const table = {
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: {},
  columnDefinitions: [{ name: 'Name', type: 'string' }],
};

const object = fc.record({
  metadata: fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) }),
  data: fc.jsonValue({ maxDepth: 3 }),
  text: fc.constantFrom('yes', '0x1', '- a', 'x: y', 'line\nline\n', ` ${'word '.repeat(40)}`, 'é\u2028"\\'),
});

describe('a list that is made piece by piece is the same as one that is made at once', () => {
  test.each([
    [list, 'items'],
    [table, 'rows'],
  ] as const)('%j', async (fields, listField) => {
    await fc.assert(
      fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 4 }), async (elements) => {
        const body = bodyOf(fields, listField, elements);
        // As JSON has them, such as 0 instead of -0.
        const whole = JSON.parse(JSON.stringify({ ...fields, [listField]: elements }));
        const compact = `${jsonText(whole)}\n`;
        expect(`${Buffer.concat(listJson(body)).toString()}\n`).toBe(compact);
        expect(await textOf(body, { media: 'json', isPretty: false })).toBe(compact);
        expect(await textOf(body, { media: 'json', isPretty: true })).toBe(jsonText(whole, 2));
        expect(await textOf(body, { media: 'yaml', isPretty: false })).toBe(stringify(whole, yamlOptions));
      }),
    );
  });
});

test('64-bit integers stay exact', async () => {
  const body = bodyOf(list, 'items', [{ size: 9223372036854775807n }]);
  expect(await textOf(body, { media: 'yaml', isPretty: false })).toContain('- size: 9223372036854775807\n');
  expect(await textOf(body, { media: 'json', isPretty: true })).toContain('"size": 9223372036854775807\n');
});

describe('other work gets a turn after a bounded number of bytes', () => {
  test.each([
    ['yaml', 'yaml', 40],
    ['pretty', 'json', 5],
  ] as const)('%s', async (_what, media, turnsMin) => {
    const element = {
      data: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 'x'.repeat(90)])),
    };
    const body = bodyOf(
      list,
      'items',
      Array.from({ length: 150 }, () => element),
    );
    let [turns, isDone] = [0, false];
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    let largest = 0;
    for await (const piece of listPieces(body, { media, isPretty: media === 'json' }))
      largest = Math.max(largest, piece.length);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(turnsMin);
    expect(largest).toBeLessThan(100_000);
  });
});
