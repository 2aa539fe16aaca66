import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowFilter } from './row-filter.ts';

interface Named {
  readonly name: string;
}

const row = fc.record({ name: fc.string({ unit: fc.constantFrom('a', 'b', 'C', ' '), maxLength: 6 }) });
const question = fc.record({
  rows: fc.array(row, { maxLength: 30 }),
  text: fc.string({ unit: fc.constantFrom('a', 'B', 'c', ' '), maxLength: 4 }),
});

function slowly(rows: readonly Named[], text: string): readonly Named[] {
  const words = text.toLowerCase().split(' ').filter(Boolean);
  return rows.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** As the filter of the page asks: with each keystroke and each change of the rows, and without waiting. */
test('the last answer is that of the last question, and each answer is right for its text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(question, fc.boolean()), { minLength: 1, maxLength: 6 }),
      async (asked) => {
        const answers: { readonly found: readonly Named[]; readonly text: string }[] = [];
        const filter = new RowFilter<Named>(
          ({ name }) => name,
          (found, text) => answers.push({ found, text }),
        );
        for (const [{ rows, text }, isWaiting] of asked) {
          filter.ask(rows, text);
          if (isWaiting) await Promise.resolve();
        }
        const last = asked.at(-1)![0];
        await expect
          .poll(() => answers.at(-1))
          .toEqual({ text: last.text, found: slowly(last.rows, last.text) });
        for (const { found, text } of answers)
          expect(asked.some(([each]) => each.text === text && same(slowly(each.rows, text), found))).toBe(
            true,
          );
      },
    ),
    { numRuns: 100 },
  );
});

function same(a: readonly Named[], b: readonly Named[]): boolean {
  return a.length === b.length && a.every((each, at) => each === b[at]);
}

/** Searches `many` rows, and asks something else after a thousand of them. */
async function answersWith(next: { readonly rows: readonly Named[]; readonly text: string }) {
  const many = Array.from({ length: 3_000 }, (_, at): Named => ({ name: `row ${at}` }));
  const answers: string[] = [];
  const filter = new RowFilter<Named>(
    (row) => {
      if (row === many[1_000]) filter.ask(next.rows, next.text);
      return row.name;
    },
    (found, text) => answers.push(`${text}: ${found.length}`),
  );
  filter.ask(many, 'row');
  await expect.poll(() => answers.at(-1)).toBe(`${next.text}: ${next.rows.length}`);
  return answers;
}

test('another text abandons a search that is under way; other rows do not', async () => {
  const rows = [{ name: 'row 7' }];
  expect(await answersWith({ rows, text: '7' })).toEqual(['7: 1']);
  expect(await answersWith({ rows, text: 'row' })).toEqual(['row: 3000', 'row: 1']);
});

test('nothing is reported after a stop', async () => {
  const answers: number[] = [];
  const filter = new RowFilter<Named>(
    ({ name }) => name,
    (found) => answers.push(found.length),
  );
  filter.ask([{ name: 'a' }], 'a');
  await expect.poll(() => answers).toEqual([1]);
  filter.stop();
  filter.ask([{ name: 'a' }], 'a');
  filter.stop();
  filter.ask([{ name: 'b' }], 'a');
  await expect.poll(() => answers.at(-1)).toBe(0);
});
