import type { Random } from '../../../runtime/random.ts';

/** Draws a value; undefined leaves it out of whatever would hold it. */
export type Draw = (random: Random) => unknown;

export function one(...values: readonly unknown[]): Draw {
  return (random) => random.pick(values);
}

/** Of draws, not of values. */
export function either(...draws: readonly Draw[]): Draw {
  return (random) => random.pick(draws)(random);
}

/** Each part as often as not; those under `always` in every case. */
export function object(
  parts: Readonly<Record<string, Draw>>,
  always: Readonly<Record<string, Draw>> = {},
): Draw {
  return (random) => {
    const drawn = Object.entries(always).map(([name, draw]) => [name, draw(random)] as const);
    for (const [name, draw] of random.shuffle(Object.entries(parts))) {
      if (random.next() < 0.45) drawn.push([name, draw(random)]);
    }
    return Object.fromEntries(drawn.filter(([, value]) => value !== undefined));
  };
}

/** Some of them, in any order. */
export function some(...draws: readonly Draw[]): Draw {
  return (random) => {
    const count = random.int(Math.min(draws.length, 3) + 1);
    return random
      .shuffle(draws)
      .slice(0, count)
      .map((draw) => draw(random));
  };
}

/** As `some`, but not none. */
export function several(...draws: readonly Draw[]): Draw {
  return (random) =>
    random
      .shuffle(draws)
      .slice(0, 1 + random.int(draws.length))
      .map((draw) => draw(random));
}

/** A map with some of the names. */
export function mapOf(names: readonly string[], value: Draw): Draw {
  return object(Object.fromEntries(names.map((name) => [name, value])));
}

/** Rarely something that means nothing: null, or empty. */
export function orNothing(draw: Draw, ...nothings: readonly unknown[]): Draw {
  return (random) => (random.next() < 0.08 ? random.pick([null, ...nothings]) : draw(random));
}
