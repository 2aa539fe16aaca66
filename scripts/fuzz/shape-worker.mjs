/** Measures one random shape after the other, and reports those that take more than linear time. */
import { parentPort, workerData } from 'node:worker_threads';
import { parsers } from './parsers.mjs';
import { randomShape } from './shapes.mjs';

const ratioMax = 2.5;
const runs = 3;
/** Shorter times are mostly noise. */
const measurableMs = 20;
const lengthMin = 2_000;
const lengthMax = 256_000;

const { first, endMs, only } = workerData;
const chosen = parsers.filter(({ name }) => name.includes(only));
if (chosen.length === 0) throw new Error(`no parser has ${JSON.stringify(only)} in its name`);
for (let seed = first; Date.now() < endMs; seed += 1) {
  const parser = chosen[seed % chosen.length];
  const shape = randomShape(parser, seed);
  const description = `${parser.name} (seed ${seed}) ${JSON.stringify(shape.parts)}`;
  parentPort.postMessage({ current: seed, parser: parser.name, shape: description });
  const problem = measure(parser, shape);
  if (problem !== undefined) parentPort.postMessage({ finding: `${description}: ${problem}` });
}

/**
 * Doubles the length until the time can be measured, then compares two lengths. A suspicious pair is compared again at twice the length,
 * because garbage collection and compilation begin at some length, and at the same length, because other processes run.
 */
function measure({ parse }, shape) {
  let length = lengthMin;
  let spentMs = bestMs(parse, shape.text(length), 1);
  while (spentMs < measurableMs && length < lengthMax) {
    length *= 2;
    spentMs = bestMs(parse, shape.text(length), 1);
  }
  if (spentMs < measurableMs) return undefined;
  let found;
  for (const at of [length, 2 * length, length]) {
    const half = bestMs(parse, shape.text(at), runs);
    const whole = bestMs(parse, shape.text(2 * at), runs);
    if (whole <= ratioMax * half) return undefined;
    found = `${at} characters take ${half.toFixed(0)} ms, twice as many ${whole.toFixed(0)} ms`;
  }
  return found;
}

function bestMs(parse, text, count) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < count; run += 1) {
    const before = process.cpuUsage();
    try {
      parse(text);
    } catch {
      // A refused text is as good as an accepted one. test/robustness checks how texts are refused.
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
