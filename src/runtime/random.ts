import { createHash } from 'node:crypto';
import { assert } from './assert.ts';

/**
 * Randomness for everything above this folder: jitter, sampling, fault injection. Not for secrets.
 *
 * A stream belongs to one user at a time; draws are synchronous, so tasks of one process cannot collide. A caller that
 * gives randomness to several parts forks it, one label each: then draws of one part never change what another
 * sees, and a recorded seed keeps its meaning when a part is added.
 */
export interface Random {
  /** Uniform in [0, 1), with 53 random bits. */
  next(): number;
  /** A uniform integer in [0, maxExclusive). */
  int(maxExclusive: number): number;
  /** One element, each as likely; the array must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** A copy in random order, each order as likely. */
  shuffle<T>(items: readonly T[]): T[];
  /**
   * A separate stream. For a seeded parent it depends on the parent's seed and the label only, not on what the
   * parent has drawn; the same label gives the same stream again.
   */
  fork(label: string): Random;
}

/** The same seed gives the same stream on any machine and in any version. A number and its text are one seed. */
export function seededRandom(seed: string | number): Random {
  const key = String(seed);
  const draw = xoshiro128(stateFrom(key));
  const next = () => ((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) / 2 ** 53;
  return randomOver(next, (label) => seededRandom(`${key}\0${label}`));
}

/** Different in every process. Forks are the stream itself: it has no seed whose meaning could change. */
export const systemRandom: Random = randomOver(Math.random, () => systemRandom);

function randomOver(next: () => number, fork: (label: string) => Random): Random {
  function int(maxExclusive: number): number {
    const isValid = Number.isSafeInteger(maxExclusive) && maxExclusive > 0;
    assert(isValid, `the bound of a random integer must be a positive integer, not ${maxExclusive}`);
    return Math.floor(next() * maxExclusive);
  }
  function pick<T>(items: readonly T[]): T {
    assert(items.length > 0, 'cannot pick from an empty array');
    return items[int(items.length)] as T;
  }
  function shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = int(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }
  return { next, int, pick, shuffle, fork };
}

type Xoshiro128State = readonly [number, number, number, number];

/** A cryptographic digest, so that similar seeds and labels start unrelated streams. */
function stateFrom(key: string): Xoshiro128State {
  const digest = createHash('sha256').update(key).digest();
  return [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), digest.readUInt32LE(12)];
}

/** xoshiro128** 1.1 by Blackman and Vigna: uniform 32-bit integers, period 2^128 - 1. */
export function xoshiro128(state: Xoshiro128State): () => number {
  let [a, b, c, d] = state;
  assert((a | b | c | d) !== 0, 'xoshiro128 cannot start from a state of zeros: it would stay there');
  return () => {
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotateLeft(d, 11);
    return result;
  };
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
