import { RE2JS } from 're2js';

/** Thrown for a pattern that is not valid, is too large, or takes too many steps on a text. */
export class PatternError extends Error {}

/**
 * Limits of regular expressions in schemas and rules. The time of a match is linear in the text, but also in the
 * pattern's program, and nested repetitions make that a thousand times larger than the pattern: `(.{0,30}){0,30}`.
 *
 * 1. Kubernetes' limits of cost, which count the characters of a pattern, allow about 160 million steps of a pattern
 *    without counted repetitions. All of these are allowed here: 200 million steps, which take seconds.
 * 2. A program of 100,000 instructions takes about 20 MB and 0.2 s to compile. Go allows 30 times as many.
 * 3. Compiled patterns are cached up to 200,000 instructions together, about 40 MB.
 */
const stepsMax = 200_000_000;
const instructionsMax = 100_000;
const cachedInstructionsMax = 200_000;

/** Compiled patterns and error messages, oldest first. */
const cache = new Map<string, BoundedPattern | PatternError>();
let cachedInstructions = 0;

/** Compiles a pattern in RE2's syntax, which is Go's. Throws `PatternError`. */
export function compiledPattern(pattern: string): BoundedPattern {
  let known = cache.get(pattern);
  if (known === undefined) {
    known = compile(pattern);
    remember(pattern, known);
  }
  if (known instanceof PatternError) throw known;
  return known;
}

function compile(pattern: string): BoundedPattern | PatternError {
  const tooLarge = new PatternError(
    `the pattern needs more than ${instructionsMax} instructions; repeat less`,
  );
  if (expandedSize(pattern) > instructionsMax) return tooLarge;
  try {
    return new BoundedPattern(RE2JS.compile(pattern));
  } catch (error) {
    return new PatternError((error as Error).message);
  }
}

function remember(pattern: string, compiled: BoundedPattern | PatternError): void {
  cache.set(pattern, compiled);
  cachedInstructions += weightOf(pattern, compiled);
  for (const [oldest, dropped] of cache) {
    if (cachedInstructions <= cachedInstructionsMax) return;
    cache.delete(oldest);
    cachedInstructions -= weightOf(oldest, dropped);
  }
}

/** The text of a pattern takes memory, too; a hundred characters about as much as an instruction. */
function weightOf(pattern: string, compiled: BoundedPattern | PatternError): number {
  const size = compiled instanceof BoundedPattern ? compiled.instructions : 0;
  return size + 1 + Math.ceil(pattern.length / 100);
}

/** A compiled pattern, whose matches throw `PatternError` if they would take too many steps. */
export class BoundedPattern {
  readonly #expression: RE2JS;

  constructor(expression: RE2JS) {
    this.#expression = expression;
  }

  get instructions(): number {
    return this.#expression.programSize();
  }

  test(text: string): boolean {
    new StepCount(this.instructions).add(text.length);
    return this.#expression.test(text);
  }

  /**
   * The first matches, at most `max`. Each search may read the rest of the text, so all of it counts. As in Go, an empty
   * match right after another match is not one.
   */
  findAll(text: string, max: number): string[] {
    const steps = new StepCount(this.instructions);
    const matcher = this.#expression.matcher(text);
    const found: string[] = [];
    let position = 0;
    while (found.length < max) {
      steps.add(text.length - position);
      if (!matcher.find()) break;
      const isAbutting = found.length > 0 && matcher.end() === position;
      position = matcher.end();
      if (!isAbutting) found.push(matcher.group() ?? '');
    }
    return found;
  }
}

class StepCount {
  readonly #instructions: number;
  #steps = 0;

  constructor(instructions: number) {
    this.#instructions = instructions;
  }

  add(characters: number): void {
    this.#steps += (characters + 1) * this.#instructions;
    if (this.#steps > stepsMax)
      throw new PatternError(
        `the pattern takes more than ${stepsMax} steps on this text; repeat less or shorten the text`,
      );
  }
}

/** A set of characters, an escape, a counted repetition, or any one character. */
const piece = /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\Q.*?(?:\\E|$)|\\.|\{(\d+)(,?)(\d*)\}|./gs;

/**
 * An upper bound of how many characters and groups a pattern has once its counted repetitions are written out, up to a
 * number that is certainly too large. It reads the pattern once, because compiling a large one takes seconds.
 */
function expandedSize(pattern: string): number {
  const groups = [new GroupSize()];
  for (const [text, min, , max] of pattern.matchAll(piece)) {
    const group = groups.at(-1)!;
    if (text === '(') groups.push(new GroupSize());
    else if (text === ')' && groups.length > 1) {
      groups.pop();
      groups.at(-1)!.add(group.total + 2);
    } else if (min !== undefined) group.repeatLast(Math.max(Number(min), Number(max)));
    else if (text === '*' || text === '+' || text === '?') group.growLast();
    else group.add(text.startsWith('\\Q') ? text.length : 1);
  }
  return groups.reduce((sum, { total }) => sum + total, 0);
}

/** The size of an open group; only its last item can still be repeated. */
class GroupSize {
  #before = 0;
  #last = 0;

  get total(): number {
    return this.#before + this.#last;
  }

  add(size: number): void {
    this.#before += this.#last;
    this.#last = size;
  }

  growLast(): void {
    this.#last += 1;
  }

  /** An optional repetition has an instruction that skips it, and so has an unlimited one. */
  repeatLast(count: number): void {
    this.#last = (this.#last + 1) * (count + 1);
  }
}
