/** The header `Content-Range: bytes START-END/TOTAL`, where END is the last byte. */
export interface ContentRange {
  readonly start: number;
  readonly endExclusive: number;
  readonly totalBytes: number;
}

/** Undefined unless the header has exactly this form, with numbers that fit together. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const [, first, last, total] = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/.exec(header ?? '') ?? [];
  const [start, end, totalBytes] = [Number(first), Number(last), Number(total)];
  const isRight = [start, end, totalBytes].every(Number.isSafeInteger) && start <= end && end < totalBytes;
  return isRight ? { start, endExclusive: end + 1, totalBytes } : undefined;
}
