import type { Evidence } from './evidence.ts';
import { describeOperation, type History, type Operation } from './history.ts';
import { describeState, type ObjectOperation, objectModel } from './object-model.ts';
import { findLinearization } from './search.ts';

/**
 * Whether the operations are linearizable. Objects are independent of each other, so each is checked alone; a list is a
 * read of every object.
 */
export function checkObjects({ operations }: History, evidence: Evidence): string[] {
  const byName = new Map<string, ObjectOperation[]>();
  for (const { call } of operations) if ('name' in call) byName.set(call.name, []);
  for (const operation of operations) {
    for (const [name, ofName] of byName) {
      const seen = asSeenBy(name, operation, evidence);
      if (seen !== undefined) ofName.push(seen);
    }
  }
  return [...byName].flatMap(([name, ofName]) => checkObject(name, ofName, evidence));
}

/** The operations before the failure that a message repeats. */
const contextLength = 6;

function checkObject(name: string, operations: readonly ObjectOperation[], evidence: Evidence): string[] {
  const result = findLinearization(operations, objectModel(evidence));
  if (result.ok) return [];
  const before = result.ordered.slice(-contextLength).map(({ source }) => `  ${describeOperation(source)}`);
  const blocked = result.blocked.map(
    ({ operation, reason }) => `  ${describeOperation(operation.source)} is impossible: ${reason}`,
  );
  const state = describeState(result.state, evidence);
  return [
    [`object ${name} is not linearizable; after`, ...before, `it is ${state}, and then`, ...blocked].join(
      '\n',
    ),
  ];
}

/** Undefined if the operation says nothing about the object. */
function asSeenBy(name: string, operation: Operation, evidence: Evidence): ObjectOperation | undefined {
  const { call, outcome, startMs, endMs } = operation;
  if (outcome.type === 'refused') return undefined;
  if (call.verb !== 'list') {
    if (call.name !== name || (call.verb === 'get' && outcome.type === 'unknown')) return undefined;
    if (outcome.type === 'unknown') return unknownWrite(operation, call, evidence);
    return { call, outcome, startMs, endMs, isOptional: false, source: operation };
  }
  // A list at an earlier version, or at any, says nothing about the present.
  if (outcome.type !== 'listed' || call.at !== undefined) return undefined;
  const item = outcome.items.find((one) => one.name === name);
  return {
    call: { verb: 'get', name },
    outcome: item === undefined ? { type: 'not found' } : { type: 'found', ...item },
    startMs,
    endMs,
    isOptional: false,
    source: operation,
  };
}

/** A write without an answer whose value was seen has happened, at the latest when it was seen. */
function unknownWrite(source: Operation, call: ObjectOperation['call'], evidence: Evidence): ObjectOperation {
  const { outcome, startMs, endMs } = source;
  const seenMs = 'value' in call ? evidence.firstSeenMs(call.value) : undefined;
  const isOptional = seenMs === undefined;
  return { call, outcome, startMs, endMs: Math.min(endMs, seenMs ?? endMs), isOptional, source };
}
