import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Random, seededRandom, systemRandom, xoshiro128 } from './random.ts';

function draw(random: Random, count: number): number[] {
  return Array.from({ length: count }, () => random.next());
}

test('the generator produces the numbers of its reference implementation', () => {
  const next = xoshiro128([1, 2, 3, 4]);
  // From xoshiro128starstar.c 1.1, as in the tests of Rust's rand_xoshiro.
  const reference = [
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ];
  expect(reference.map(() => next())).toEqual(reference);
});

test('the generator refuses the one state it could not leave', () => {
  expect(() => xoshiro128([0, 0, 0, 0])).toThrow('zeros');
});

describe('a seeded stream', () => {
  test('keeps its values from version to version', () => {
    const random = seededRandom('stowage');
    expect([random.int(1_000), random.int(1_000), random.int(1_000)]).toMatchInlineSnapshot(`
      [
        4,
        130,
        862,
      ]
    `);
    expect(random.fork('faults').int(1_000)).toMatchInlineSnapshot(`879`);
  });

  test('is the same for the same seed, and for a number and its text', () => {
    expect(draw(seededRandom(7), 20)).toEqual(draw(seededRandom('7'), 20));
    expect(draw(seededRandom(7), 20)).not.toEqual(draw(seededRandom(8), 20));
  });

  test('forks independently of its earlier draws, and is not changed by forking', () => {
    const fresh = seededRandom(1);
    const used = seededRandom(1);
    draw(used, 10);
    expect(draw(used.fork('disk'), 10)).toEqual(draw(fresh.fork('disk'), 10));
    expect(draw(used, 10)).toEqual(draw(fresh, 20).slice(10));
  });

  test('has forks that differ from it, from one another and from theirs', () => {
    const random = seededRandom(1);
    const streams = [
      random,
      random.fork('a'),
      random.fork('b'),
      random.fork('ab'),
      random.fork('a').fork('b'),
      random.fork('b').fork('a'),
    ];
    const openings = streams.map((stream) => draw(stream, 4).join());
    expect(new Set(openings).size).toBe(streams.length);
  });
});

describe.each([
  { name: 'a seeded stream', random: seededRandom('spread') },
  { name: 'a fork', random: seededRandom('spread').fork('child') },
  { name: 'the system stream', random: systemRandom },
])('$name', ({ random }) => {
  test('draws numbers in [0, 1), evenly spread', () => {
    const drawn = draw(random, 20_000);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    // Ten standard deviations of the mean: a wrong generator fails, chance does not.
    expect(Math.abs(mean - 0.5)).toBeLessThan((10 * Math.sqrt(1 / 12)) / Math.sqrt(20_000));
  });

  test('draws every integer below the bound about as often', () => {
    const counts = new Array<number>(6).fill(0);
    for (let draws = 0; draws < 60_000; draws += 1) counts[random.int(6)]! += 1;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(1_000);
  });
});

test('an integer lies below its bound, whatever the bound', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (seed, max) => {
      const drawn = seededRandom(seed).int(max);
      expect(Number.isSafeInteger(drawn) && drawn >= 0 && drawn < max).toBe(true);
    }),
  );
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 60])('a bound of %s is refused', (max) => {
  expect(() => seededRandom(1).int(max)).toThrow('positive integer');
});

test('picking takes an element of the array, and needs one', () => {
  const random = seededRandom(1);
  const picked = new Set(Array.from({ length: 100 }, () => random.pick(['a', 'b', 'c'])));
  expect([...picked].toSorted()).toEqual(['a', 'b', 'c']);
  expect(() => random.pick([])).toThrow('empty');
});

test('shuffling gives a permutation and leaves the original alone', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (items, seed) => {
      const original = [...items];
      const shuffled = seededRandom(seed).shuffle(items);
      expect(items).toEqual(original);
      expect(shuffled.toSorted((a, b) => a - b)).toEqual(original.toSorted((a, b) => a - b));
    }),
  );
});

test('shuffling reaches every order about as often', () => {
  const random = seededRandom('orders');
  const counts = new Map<string, number>();
  for (let round = 0; round < 12_000; round += 1) {
    const order = random.shuffle(['a', 'b', 'c']).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  for (const count of counts.values()) expect(Math.abs(count - 2_000)).toBeLessThan(400);
});
