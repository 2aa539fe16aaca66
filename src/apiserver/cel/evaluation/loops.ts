import type { Comprehension } from '../language/ast.ts';
import { CelError, isError, isList, isMap, type Value } from '../values/values.ts';
import { type Evaluate, type Frame, LoopFrame } from './frame.ts';

interface LoopSteps {
  readonly range: Evaluate;
  readonly init: Evaluate;
  readonly condition: Evaluate;
  readonly step: Evaluate;
  readonly result: Evaluate;
}

/** Iterates over a list or a map until the condition is false. */
export function planLoop(expr: Comprehension, steps: LoopSteps): Evaluate {
  const hasTwo = expr.variable2 !== undefined;
  return (frame) => {
    const range = steps.range(frame);
    if (isError(range)) return range;
    if (!isList(range) && !isMap(range)) return notIterable(range, hasTwo);
    const loop = new LoopFrame(frame, expr, steps.init);
    iterate(range, hasTwo, (first, second) => iterateOnce(loop, steps, first, second));
    loop.finish();
    return steps.result(loop);
  };
}

/** Runs one iteration; returns false to stop. */
function iterateOnce(loop: LoopFrame, steps: LoopSteps, first: Value, second: Value): boolean {
  loop.enter(first, second);
  if (steps.condition(loop) === false) return false;
  loop.accumulate(steps.step(loop as Frame));
  return true;
}

function iterate(range: Value, hasTwo: boolean, visit: (first: Value, second: Value) => boolean): void {
  if (isList(range)) {
    for (let index = 0; index < range.size; index++) {
      const item = range.at(index);
      const shouldContinue = hasTwo ? visit(BigInt(index), item) : visit(item, null);
      if (!shouldContinue) return;
    }
  } else if (isMap(range)) {
    for (const key of range.keys()) {
      if (!visit(key, hasTwo ? (range.find(key) ?? null) : null)) return;
    }
  }
}

/** Go's names of the types of these values. */
const goTypes: Readonly<Record<string, string>> = {
  boolean: 'types.Bool',
  bigint: 'types.Int',
  number: 'types.Double',
  string: 'types.String',
};

function notIterable(value: Value, hasTwo: boolean): Value {
  const name = value === null ? 'types.Null' : (goTypes[typeof value] ?? 'types.Bytes');
  return new CelError(
    hasTwo ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`,
  );
}
