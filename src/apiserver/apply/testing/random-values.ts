import type { Random } from '../../../runtime/random.ts';

/** Draws a value; undefined leaves it out of its container. */
export type Draw = (random: Random) => unknown;

export function one(...values: readonly unknown[]): Draw {
  return (random) => random.pick(values);
}

/** Draws from one of several draws. */
export function either(...draws: readonly Draw[]): Draw {
  return (random) => random.pick(draws)(random);
}

/** Includes each part with a probability near one half; the parts in `always` are in every object. */
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

/** Some of the draws, in any order. */
export function some(...draws: readonly Draw[]): Draw {
  return (random) => {
    const count = random.int(Math.min(draws.length, 3) + 1);
    return random
      .shuffle(draws)
      .slice(0, count)
      .map((draw) => draw(random));
  };
}

/** Like `some`, but at least one. */
export function several(...draws: readonly Draw[]): Draw {
  return (random) =>
    random
      .shuffle(draws)
      .slice(0, 1 + random.int(draws.length))
      .map((draw) => draw(random));
}

/** A map with some of the names. */
export function mapWith(names: readonly string[], value: Draw): Draw {
  return object(Object.fromEntries(names.map((name) => [name, value])));
}

/** Rarely a value that means nothing: null, or an empty one. */
export function orNothing(draw: Draw, ...nothings: readonly unknown[]): Draw {
  return (random) => (random.next() < 0.08 ? random.pick([null, ...nothings]) : draw(random));
}
