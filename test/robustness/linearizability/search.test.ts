import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call, Operation, Outcome } from './history.ts';
import { findLinearization, type Step, type TimedOperation } from './search.ts';
import { isLinearizableByForce } from './testing/brute-force.ts';

/**
 * The search alone, without versions of other sources: the model of this test takes the version from the value, so that
 * random outcomes are right about as often as wrong.
 */
interface Op extends TimedOperation {
  readonly source: Operation;
}

const name = 'a';

interface DrawnCall {
  readonly call: Call;
  readonly outcomes: readonly Outcome['type'][];
}

const calls = fc.constantFrom<((value: string, replaces: number | undefined) => DrawnCall)[]>(
  (value) => ({ call: { verb: 'create', name, value }, outcomes: ['written', 'already exists'] }),
  (value, replaces) => ({
    call: { verb: 'update', name, value, replaces },
    outcomes: ['written', 'conflict', 'not found'],
  }),
  (_value, replaces) => ({
    call: { verb: 'delete', name, replaces },
    outcomes: ['written', 'conflict', 'not found'],
  }),
  () => ({ call: { verb: 'get', name }, outcomes: ['found', 'not found'] }),
);

const drawn = fc.record({
  make: calls,
  startMs: fc.integer({ min: 0, max: 12 }),
  lengthMs: fc.integer({ min: 0, max: 8 }),
  replaces: fc.integer({ min: 0, max: 5 }),
  seen: fc.integer({ min: 1, max: 5 }),
  outcome: fc.integer({ min: 0, max: 5 }),
  isUnknown: fc.boolean(),
});

const histories = fc.array(drawn, { minLength: 1, maxLength: 5 }).map((ops) =>
  ops.map(({ make, startMs, lengthMs, replaces, seen, outcome, isUnknown }, index): Operation => {
    const { call, outcomes } = make(`v${index + 1}`, replaces || undefined);
    const type = outcomes[outcome % outcomes.length]!;
    const isWrite = call.verb !== 'get';
    const result = isUnknown && isWrite ? { type: 'unknown' } : { type, value: `v${seen}`, version: seen };
    return { client: `c${index}`, call, startMs, endMs: startMs + lengthMs, outcome: result as Outcome };
  }),
);

function versionOf(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.slice(1));
}

function step(before: string | undefined, { source: { call, outcome } }: Op): Step<string | undefined> {
  const isMatch = !('replaces' in call) || call.replaces === undefined || versionOf(before) === call.replaces;
  const impossible = { ok: false, reason: 'another state' } as const;
  const allowed = {
    written: call.verb === 'create' ? before === undefined : before !== undefined && isMatch,
    unknown: call.verb === 'create' ? before === undefined : before !== undefined && isMatch,
    'already exists': before !== undefined,
    'not found': before === undefined,
    conflict: before !== undefined && !isMatch,
    found: outcome.type === 'found' && outcome.value === before,
    listed: false,
    refused: false,
  };
  if (!allowed[outcome.type]) return impossible;
  if (outcome.type !== 'written' && outcome.type !== 'unknown') return { ok: true, state: before };
  return { ok: true, state: 'value' in call ? call.value : undefined };
}

test('the search and a check of all orders agree on random histories', () => {
  let accepted = 0;
  let rejected = 0;
  fc.assert(
    fc.property(histories, (operations) => {
      const ops = operations.map((source): Op => {
        const { startMs, endMs, outcome } = source;
        return { source, startMs, endMs, isOptional: outcome.type === 'unknown' };
      });
      const model = { initial: undefined, keyOf: (state: string | undefined) => state ?? '', step };
      const { ok } = findLinearization<Op, string | undefined>(ops, model);
      expect(ok).toBe(isLinearizableByForce(operations));
      if (ok) accepted += 1;
      else rejected += 1;
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(accepted, rejected)).toBeGreaterThan(100);
});
