import type { Evidence } from './evidence.ts';
import type { Call, Operation, Outcome } from './history.ts';
import type { SequentialModel, Step, TimedOperation } from './search.ts';

/** An operation as one object sees it: a list is a read of every object. */
export interface ObjectOperation extends TimedOperation {
  readonly call: Exclude<Call, { readonly verb: 'list' }>;
  readonly outcome: Outcome;
  readonly source: Operation;
}

export interface ObjectState {
  /** Undefined if the object does not exist. */
  readonly value: string | undefined;
  /** The version of the newest change, as far as it is known; changes have increasing versions. */
  readonly version: number;
}

/** One object of Kubernetes: creations need it to be absent, writes with a version need exactly that version. */
export function objectModel(evidence: Evidence): SequentialModel<ObjectOperation, ObjectState> {
  return {
    initial: { value: undefined, version: 0 },
    keyOf: ({ value, version }) => `${value ?? ''} ${version}`,
    step: (state, operation) => {
      const problem = problemOf(state, operation, evidence);
      if (problem !== undefined) return { ok: false, reason: problem };
      return stateAfter(state, operation, evidence);
    },
  };
}

/** Why the operation cannot have had this outcome in this state. */
function problemOf(
  state: ObjectState,
  { call, outcome }: ObjectOperation,
  evidence: Evidence,
): string | undefined {
  const existing = state.value === undefined ? undefined : `the object has ${describeState(state, evidence)}`;
  const isCurrent = (version: number | undefined) =>
    version === undefined || (state.value !== undefined && evidence.versionOf(state.value) === version);
  switch (outcome.type) {
    case 'found':
      return state.value === outcome.value ? undefined : (existing ?? 'the object does not exist');
    case 'not found':
      return existing;
    case 'already exists':
      return existing === undefined ? 'the object does not exist' : undefined;
    case 'conflict':
      if (existing === undefined) return 'the object does not exist';
      return 'replaces' in call && isCurrent(call.replaces)
        ? `the object has that version, ${call.replaces}`
        : undefined;
    default:
      if (call.verb === 'create') return existing;
      if (call.verb === 'get') return undefined;
      if (existing === undefined) return 'the object does not exist';
      return isCurrent(call.replaces) ? undefined : existing;
  }
}

function stateAfter(
  state: ObjectState,
  { call, outcome }: ObjectOperation,
  evidence: Evidence,
): Step<ObjectState> {
  const isWrite = outcome.type === 'written' || outcome.type === 'unknown';
  if (!isWrite || call.verb === 'get') return { ok: true, state };
  const isDelete = call.verb === 'delete';
  const version = isDelete ? evidence.deletionVersionOf(state.value ?? '') : evidence.versionOf(call.value);
  if (version !== undefined && version <= state.version) {
    return { ok: false, reason: `its version ${version} is not higher than ${state.version}` };
  }
  return {
    ok: true,
    state: { value: isDelete ? undefined : call.value, version: version ?? state.version },
  };
}

export function describeState({ value, version }: ObjectState, evidence: Evidence): string {
  if (value === undefined) return version === 0 ? 'absent' : `absent (last version ${version})`;
  return `${value} of version ${evidence.versionOf(value) ?? 'unknown'}`;
}
