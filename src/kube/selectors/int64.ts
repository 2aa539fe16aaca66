/**
 * Reads a base-10 signed 64-bit integer as Go's ParseInt does: an optional sign, then digits and nothing else.
 * Labels that are compared with Gt and Lt are such texts.
 */
export function parseInt64(text: string): bigint | undefined {
  const start = text[0] === '-' || text[0] === '+' ? 1 : 0;
  if (start === text.length) return undefined;
  for (let index = start; index < text.length; index++) {
    const charCode = text.charCodeAt(index);
    if (charCode < 48 || charCode > 57) return undefined;
  }
  const digits = text.length - start <= digitsMax ? text : withoutLeadingZeros(text, start);
  if (digits === undefined) return undefined;
  const value = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  return value >= int64Min && value <= int64Max ? value : undefined;
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** The number of digits of 2^63. A longer text has leading zeros or is out of range, and need not be converted. */
const digitsMax = 19;

function withoutLeadingZeros(text: string, start: number): string | undefined {
  let first = start;
  while (first < text.length - 1 && text[first] === '0') first += 1;
  return text.length - first <= digitsMax ? text.slice(0, start) + text.slice(first) : undefined;
}
