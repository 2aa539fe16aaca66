const marker = '"managedFields":[';

/**
 * Removes every `managedFields` from a JSON text, so that the parser creates no objects for them. The marker cannot be part of a string, where its quotes would
 * be escaped. A text with other spaces stays as it is.
 */
export function withoutManagedFields(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, from)) {
    let start = at;
    let end = endOfArray(text, at + marker.length);
    if (text[end] === ',') end += 1;
    else if (text[start - 1] === ',') start -= 1;
    kept.push(text.slice(from, start));
    from = end;
  }
  return from === 0 ? text : kept.join('') + text.slice(from);
}

const quote = 0x22;
const backslash = 0x5c;
const opening = 0x5b;
const closing = 0x5d;

/** The index behind the bracket that closes the array whose first element begins at `start`. */
function endOfArray(text: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; at < text.length && depth > 0; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === opening) depth += 1;
    else if (code === closing) depth -= 1;
  }
  return at;
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
