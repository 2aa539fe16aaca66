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
 * 3. Compiled patterns are cached up to 40 MB together. A match adds to the memory of its pattern: the states that it
 *    has visited, up to 8 MB for each pattern.
 */
const stepsMax = 200_000_000;
const instructionsMax = 100_000;
const instructionBytes = 200;
const cachedBytesMax = 40_000_000;

interface CachedPattern {
  readonly compiled: BoundedPattern | PatternError;
  /** As counted in `cachedBytes`. */
  bytes: number;
}

/** Compiled patterns and error messages, oldest first. */
const cache = new Map<string, CachedPattern>();
let cachedBytes = 0;

/** Compiles a pattern in RE2's syntax, which is Go's. Throws `PatternError`. */
export function compiledPattern(pattern: string): BoundedPattern {
  const compiled = cache.get(pattern)?.compiled ?? compile(pattern);
  if (!cache.has(pattern)) cache.set(pattern, { compiled, bytes: 0 });
  countMemory(pattern);
  if (compiled instanceof PatternError) throw compiled;
  return compiled;
}

function compile(pattern: string): BoundedPattern | PatternError {
  const tooLarge = new PatternError(
    `the pattern needs more than ${instructionsMax} instructions; repeat less`,
  );
  if (expandedSize(pattern) > instructionsMax) return tooLarge;
  try {
    return new BoundedPattern(pattern, RE2JS.compile(pattern));
  } catch (error) {
    return new PatternError((error as Error).message);
  }
}

/** Counts the memory of a cached pattern again, and drops the oldest patterns if there is too much of it. */
function countMemory(pattern: string): void {
  const cached = cache.get(pattern);
  if (cached === undefined) return;
  const { compiled } = cached;
  const bytes = 2 * pattern.length + (compiled instanceof BoundedPattern ? compiled.bytes : instructionBytes);
  cachedBytes += bytes - cached.bytes;
  cached.bytes = bytes;
  for (const [oldest, dropped] of cache) {
    if (cachedBytes <= cachedBytesMax) return;
    cache.delete(oldest);
    cachedBytes -= dropped.bytes;
  }
}

/** A compiled pattern, whose matches throw `PatternError` if they would take too many steps. */
export class BoundedPattern {
  readonly #pattern: string;
  readonly #expression: RE2JS;

  constructor(pattern: string, expression: RE2JS) {
    this.#pattern = pattern;
    this.#expression = expression;
  }

  get instructions(): number {
    return this.#expression.programSize();
  }

  /** The memory of the program, and of the states that matches have visited. */
  get bytes(): number {
    // RE2JS makes the automaton at the first match, and counts its memory down from a limit.
    const automaton = this.#expression.re2Input.lazyDFA as { maxMem: number; memBudget: number } | null;
    const statesBytes = automaton === null ? 0 : automaton.maxMem - automaton.memBudget;
    return instructionBytes * (this.instructions + 1) + statesBytes;
  }

  test(text: string): boolean {
    new StepCount(this.instructions).add(text.length);
    const isMatching = this.#expression.test(text);
    countMemory(this.#pattern);
    return isMatching;
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
    countMemory(this.#pattern);
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
