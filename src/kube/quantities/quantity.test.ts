import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityFromBytes,
  quantityToBytes,
  quantityToNano,
  quantityToSafeBytes,
  subtractQuantities,
} from './quantity.ts';

interface Vectors {
  readonly valid: readonly (readonly [
    text: string,
    format: string,
    printed: string,
    nano: string,
    bytes: string,
  ])[];
  readonly invalid: readonly string[];
  readonly pairs: readonly (readonly [
    a: string,
    b: string,
    compare: number,
    sum: string,
    difference: string,
  ])[];
}

/** What Kubernetes itself answers; the file says with which code it was made. */
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../testing/quantity-vectors.json', import.meta.url), 'utf8'),
);

/** Kubernetes has no suffix above E and Ei, and leaves it out: 1000E is printed as 1. */
function isPrintedWrongUpstream(quantity: Quantity): boolean {
  if (quantity.format === 'DecimalExponent') return false;
  const beyondSuffixes = quantity.format === 'DecimalSI' ? 10n ** 21n : 1024n ** 7n;
  const nano = quantityToNano(quantity);
  return nano !== 0n && nano % (beyondSuffixes * 10n ** 9n) === 0n;
}

/** Prints as Kubernetes should, or repeats its mistake to show that nothing else differs. */
function printedAs(quantity: Quantity, upstream: string): string {
  return isPrintedWrongUpstream(quantity) ? upstream : formatQuantity(quantity);
}

describe('agrees with Kubernetes', () => {
  test('on what every valid text means, and how it is printed', () => {
    const answers = vectors.valid.map(([text, , printed]) => {
      const quantity = parsed(text);
      const [nano, bytes] = [quantityToNano(quantity), quantityToBytes(quantity)];
      return [text, quantity.format, printedAs(quantity, printed), `${nano}`, `${bytes}`];
    });
    expect(answers).toEqual(vectors.valid);
  });

  test.each(vectors.invalid)('on refusing %j', (text) => {
    expect(parseQuantity(text)).toMatchObject({ ok: false });
  });

  test('on order, sums and differences', () => {
    const answers = vectors.pairs.map(([textA, textB, , sum, difference]) => {
      const [a, b] = [parsed(textA), parsed(textB)];
      return [
        textA,
        textB,
        compareQuantities(a, b),
        printedAs(addQuantities(a, b), sum),
        printedAs(subtractQuantities(a, b), difference),
      ];
    });
    expect(answers).toEqual(vectors.pairs);
  });
});

describe('differs from Kubernetes, and says so', () => {
  test.each([
    ['1000E', '1000E', 'Kubernetes prints 1'],
    ['2000000E', '2000000E', 'Kubernetes prints 2'],
  ])('%s is printed as %s: %s', (text, printed) => {
    expect(formatQuantity(parsed(text))).toBe(printed);
  });

  test.each([
    ['1e4294967296', 'Kubernetes cuts the exponent to 32 bits and reads 1'],
    ['1e1025', 'it is useless, and computing with it takes long'],
    ['1e2147483647', 'computing with it never ends'],
    [`1${'0'.repeat(2000)}`, 'texts have a bound'],
  ])('%.12s is refused: %s', (text) => {
    expect(parseQuantity(text)).toMatchObject({ ok: false });
  });

  test('a value beyond 64 bits keeps its bytes, where Value() gives 0', () => {
    expect(quantityToBytes(parsed('800E'))).toBe(800n * 10n ** 18n);
  });
});

describe('numbers, as YAML makes them from unquoted text,', () => {
  test.each([
    [10, '10'],
    [0, '0'],
    [-0, '0'],
    [1.5, '1500m'],
    [1e-7, '100e-9'],
    [-3, '-3'],
    [9007199254740991, '9007199254740991'],
  ])('%d is read', (value, printed) => {
    expect(formatQuantity(parsed(value))).toBe(printed);
  });

  test.each([2 ** 53, 1e21, -(2 ** 60)])('%d is refused, because YAML has lost digits', (value) => {
    expect(parseQuantity(value, 'spec.capacity.storage')).toEqual({
      ok: false,
      problem: `spec.capacity.storage: ${value} is too large for a plain number; write it as text, in quotes`,
    });
  });
});

describe('a problem names the field and the remedy', () => {
  test.each([
    ['10Gx', '"10Gx" is not a quantity'],
    ['', '"" is not a quantity'],
    ['9'.repeat(3000), `"${'9'.repeat(40)}…" is not a quantity`],
    [undefined, 'found nothing instead of a quantity'],
    [null, 'found nothing instead of a quantity'],
    [true, 'found a value of type boolean instead of a quantity'],
    [{ storage: '10Gi' }, 'found a value of type object instead of a quantity'],
    [10n, 'found a value of type bigint instead of a quantity'],
  ])('for %.30s', (value, complaint) => {
    expect(parseQuantity(value, 'spec.capacity.storage')).toEqual({
      ok: false,
      problem: `spec.capacity.storage: ${complaint}; write a number with an optional suffix such as 10Gi or 500M`,
    });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('for %d', (value) => {
    expect(parseQuantity(value)).toMatchObject({ ok: false });
  });
});

test.each(['', 'x', '.', 'Ki', 'e9'])(
  'of 100,000 digits with the suffix %j only the first are read',
  (suffix) => {
    const text = '9'.repeat(100_000) + suffix;
    const reads = vi.spyOn(String.prototype, 'charCodeAt');
    const conversions = vi.spyOn(globalThis, 'BigInt');
    try {
      expect(parseQuantity(text)).toMatchObject({ ok: false });
      expect(reads.mock.calls.length).toBeLessThan(100);
      expect(conversions).not.toHaveBeenCalled();
    } finally {
      vi.restoreAllMocks();
    }
  },
);

describe('conversion to bytes', () => {
  test.each([
    ['10Gi', 10_737_418_240],
    ['1500m', 2],
    ['-1500m', -2],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', undefined],
    ['8Ei', undefined],
  ])('%s as a double is %s', (text, expected) => {
    expect(quantityToSafeBytes(parsed(text))).toBe(expected);
  });

  test.each([
    [10_737_418_240, '10Gi'],
    [2n ** 62n, '4Ei'],
    [1000n, '1k'],
    [-0, '0'],
  ])('%s bytes are printed as %s', (bytes, printed) => {
    expect(formatQuantity(quantityFromBytes(bytes))).toBe(printed);
  });
});

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])('%d bytes are a bug of ours', (bytes) => {
  expect(() => quantityFromBytes(bytes)).toThrow('not a whole number of bytes');
});

test('quantities of equal value and format are equal objects, however they were made', () => {
  expect(parsed('1024Mi')).toEqual(parsed('1Gi'));
  expect(addQuantities(parsed('512Mi'), parsed('512Mi'))).toEqual(parsed('1Gi'));
  expect(parsed('1000m')).toEqual(parsed('1'));
});

/** An obvious model: a text, and its value as an exact fraction of bigints. */
const quantityTexts = fc
  .record({
    sign: fc.constantFrom('', '-', '+'),
    whole: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    fraction: fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 }),
    suffix: fc.constantFrom(...'n u m k M G T P E Ki Mi Gi Ti Pi Ei e3 e-3 E6 e-12'.split(' '), ''),
  })
  .map(
    ({ sign, whole, fraction, suffix }) => `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${suffix}`,
  );

describe('for any quantities', () => {
  test('printing and reading gives the same quantity back', () => {
    fc.assert(
      fc.property(quantityTexts, (text) => {
        const quantity = parsed(text);
        for (const printed of [formatQuantity(quantity), canonicalQuantity(quantity)]) {
          expect(quantityToNano(parsed(printed))).toBe(quantityToNano(quantity));
        }
      }),
    );
  });

  test('the canonical text is a fixed point', () => {
    fc.assert(
      fc.property(quantityTexts, (text) => {
        const canonical = canonicalQuantity(parsed(text));
        expect(canonicalQuantity(parsed(canonical))).toBe(canonical);
      }),
    );
  });

  test('order, sum and difference are those of exact fractions', () => {
    fc.assert(
      fc.property(quantityTexts, quantityTexts, (textA, textB) => {
        const [a, b] = [parsed(textA), parsed(textB)];
        const [x, y] = [exactNano(textA), exactNano(textB)];
        expect(quantityToNano(a)).toBe(x);
        expect(compareQuantities(a, b)).toBe(x < y ? -1 : x > y ? 1 : 0);
        expect(quantityToNano(addQuantities(a, b))).toBe(x + y);
        expect(quantityToNano(subtractQuantities(a, b))).toBe(x - y);
      }),
    );
  });

  test('adding commutes, and subtracting undoes it', () => {
    fc.assert(
      fc.property(quantityTexts, quantityTexts, (textA, textB) => {
        const [a, b] = [parsed(textA), parsed(textB)];
        const sum = addQuantities(a, b);
        expect(compareQuantities(sum, addQuantities(b, a))).toBe(0);
        expect(compareQuantities(subtractQuantities(sum, b), a)).toBe(0);
      }),
    );
  });

  test('bytes are the smallest whole number that is enough', () => {
    fc.assert(
      fc.property(quantityTexts, (text) => {
        const nano = quantityToNano(parsed(text));
        const bytes = quantityToBytes(parsed(text));
        const magnitude = nano < 0n ? -nano : nano;
        const magnitudeBytes = bytes < 0n ? -bytes : bytes;
        expect(magnitudeBytes * 10n ** 9n >= magnitude && (magnitudeBytes - 1n) * 10n ** 9n < magnitude).toBe(
          true,
        );
      }),
    );
  });
});

test('no value makes it throw', () => {
  fc.assert(fc.property(fc.anything(), (value) => typeof parseQuantity(value).ok === 'boolean'));
  fc.assert(fc.property(fc.string(), (text) => typeof parseQuantity(text).ok === 'boolean'));
});

/** Billionths by the book: fraction first, rounding and cap last. */
function exactNano(text: string): bigint {
  const [, sign, whole = '', fraction = '', suffix = ''] = /^([+-]?)(\d+)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  const power = 'numkMGTPE'.indexOf(suffix);
  const isBinary = suffix.endsWith('i');
  const factor = isBinary ? 1024n ** BigInt('KMGTPE'.indexOf(suffix[0]!) + 1) : 1n;
  const exponent = /^[eE]-?\d/.test(suffix)
    ? Number(suffix.slice(1))
    : 3 * (power < 3 ? power - 3 : power - 2);
  const decimal = isBinary || suffix === '' ? 0 : exponent;
  const numerator = BigInt(whole + fraction) * factor * 10n ** BigInt(9 + Math.max(decimal, 0));
  const denominator = 10n ** BigInt(fraction.length + Math.max(-decimal, 0));
  const magnitude = (numerator + denominator - 1n) / denominator;
  const cap = (2n ** 63n - 1n) * 10n ** 9n;
  const capped = isBinary && magnitude > cap ? cap : magnitude;
  return sign === '-' ? -capped : capped;
}

function parsed(text: unknown): Quantity {
  const result = parseQuantity(text);
  if (!result.ok) throw new Error(result.problem);
  return result.quantity;
}
