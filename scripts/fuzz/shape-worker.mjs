/** Measures one random shape after the other, and reports those that take more than linear time. */
import { parentPort, workerData } from 'node:worker_threads';
import { parsers } from './parsers.mjs';
import { randomShape } from './shapes.mjs';

const ratioMax = 2.5;
const runs = 3;
const steps = 4;
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
 * Doubles the length until the time can be measured, then four times more. A shape is found if each of these steps takes more than linear time.
 * A single step proves nothing: garbage collection begins at some length, and processor caches are full at some other.
 */
function measure({ parse }, shape) {
  let length = lengthMin;
  let spentMs = bestMs(parse, shape.text(length), 1);
  while (spentMs < measurableMs && length < lengthMax) {
    length *= 2;
    spentMs = bestMs(parse, shape.text(length), 1);
  }
  if (spentMs < measurableMs) return undefined;
  const times = [bestMs(parse, shape.text(length), runs)];
  for (let step = 1; step <= steps; step += 1) {
    times.push(bestMs(parse, shape.text(length * 2 ** step), runs));
    if (times[step] <= ratioMax * times[step - 1]) return undefined;
  }
  const rounded = times.map((ms) => ms.toFixed(0)).join(', ');
  return `${length} characters, and each time twice as many, take ${rounded} ms`;
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
