import { randomInt, randomUUID } from 'node:crypto';
import type { Random } from './random.ts';

/** Names for new objects. Every call gives a new one; calls never wait. */
export interface Ids {
  /** A random UUID (RFC 4122, version 4), as the API server gives to every object it creates. */
  uid(): string;
  /**
   * The five characters that Kubernetes appends to `metadata.generateName`. 27^5 are only 14 million: a clash is
   * possible, and the caller tries again when the name is taken.
   */
  suffix(): string;
}

/** No vowels and none of 0, 1 and 3, so that names contain no words and cannot be misread (k8s.io/apimachinery util/rand). */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;

/** Unpredictable ids, different in every process. */
export const systemIds: Ids = {
  uid: () => randomUUID(),
  suffix: () => suffixFrom(randomInt),
};

/** Ids from a random stream; with a seeded one, the same in every run. Pass a fork that nothing else draws from. */
export function idsFrom(random: Random): Ids {
  return {
    uid: () => uuidFrom((maxExclusive) => random.int(maxExclusive)),
    suffix: () => suffixFrom((maxExclusive) => random.int(maxExclusive)),
  };
}

type DrawInt = (maxExclusive: number) => number;

function suffixFrom(drawInt: DrawInt): string {
  let suffix = '';
  while (suffix.length < suffixLength) suffix += suffixAlphabet[drawInt(suffixAlphabet.length)];
  return suffix;
}

/**
 * ```
 * xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx    x: random    4: the version    y: 8, 9, a or b, the variant
 * ```
 */
function uuidFrom(drawInt: DrawInt): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) =>
    (place === 'x' ? drawInt(16) : 8 + drawInt(4)).toString(16),
  );
}
