/**
 * A shape is a text of any length: a start, a piece that is repeated, a middle, a second piece that is repeated as often, and an end.
 * All of them are random pieces of a parser's samples and tokens. `\u0001` in a repeated piece stands for its number, so that names differ.
 */
export function randomShape({ tokens, samples }, seed) {
  const random = new Random(seed);
  const sample = random.of(samples);
  const at = random.below(sample.length + 1);
  const until = at + random.below(Math.min(40, sample.length - at) + 1);
  const start = random.chance(0.7) ? sample.slice(0, at) : random.text(tokens, 3);
  const repeated = random.chance(0.4) ? sample.slice(at, until) : random.text(tokens, 4);
  const isNested = random.chance(0.3);
  const parts = {
    start,
    repeated: mutated(repeated === '' ? random.of(tokens) : repeated, tokens, random),
    middle: isNested || random.chance(0.2) ? random.text(tokens, 2) : '',
    mirrored: isNested ? random.text(tokens, 3) : '',
    end: random.chance(0.6) ? sample.slice(until) : random.text(tokens, 2),
  };
  return { parts, text: (length) => textOf(parts, length) };
}

function textOf({ start, repeated, middle, mirrored, end }, length) {
  const count = Math.max(1, Math.ceil(length / (repeated.length + mirrored.length)));
  return start + repeat(repeated, count) + middle + repeat(mirrored, count) + end;
}

function repeat(piece, count) {
  if (!piece.includes('\u0001')) return piece.repeat(count);
  return Array.from({ length: count }, (_, at) => piece.replaceAll('\u0001', String(at))).join('');
}

function mutated(piece, tokens, random) {
  if (random.chance(0.5)) return piece;
  const at = random.below(piece.length + 1);
  return piece.slice(0, at) + random.of(tokens) + piece.slice(at + random.below(2));
}

/** mulberry32: good enough to choose shapes, and the same on every machine. */
class Random {
  #state;

  constructor(seed) {
    this.#state = (seed * 0x9e3779b1) >>> 0;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  chance(probability) {
    return this.next() < probability;
  }

  of(list) {
    return list[this.below(list.length)];
  }

  text(tokens, countMax) {
    return Array.from({ length: 1 + this.below(countMax) }, () => this.of(tokens)).join('');
  }
}
