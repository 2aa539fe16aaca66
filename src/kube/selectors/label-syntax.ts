/**
 * A label key: a name of up to 63 characters, optionally after a DNS subdomain of up to 253 and a slash. Kubernetes
 * refuses a selector whose key or value no label could have.
 */
export function isLabelKey(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const slash = text.indexOf('/');
  return slash < 0 ? isNameFrom(text, 0) : isSubdomainUntil(text, slash) && isNameFrom(text, slash + 1);
}

/** A label value: empty, or up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
export function isLabelValue(text: unknown): text is string {
  return text === '' || (typeof text === 'string' && isNameFrom(text, 0));
}

const nameLengthMax = 63;
const subdomainLengthMax = 253;

const dash = 45;
const dot = 46;
const underscore = 95;

function isNameFrom(text: string, start: number): boolean {
  const last = text.length - 1;
  if (last < start || last - start >= nameLengthMax) return false;
  if (!isAlphanumeric(text.charCodeAt(start)) || !isAlphanumeric(text.charCodeAt(last))) return false;
  for (let index = start + 1; index < last; index++) {
    const charCode = text.charCodeAt(index);
    if (!isAlphanumeric(charCode) && charCode !== dash && charCode !== dot && charCode !== underscore)
      return false;
  }
  return true;
}

/** Lowercase labels between dots, none of them empty, none with a dash at either end. */
function isSubdomainUntil(text: string, end: number): boolean {
  if (end > subdomainLengthMax) return false;
  let previous = dot;
  for (let index = 0; index < end; index++) {
    const charCode = text.charCodeAt(index);
    const isInner = isDigit(charCode) || isLowercase(charCode);
    if (!isInner && charCode !== dash && charCode !== dot) return false;
    if (charCode === dash && previous === dot) return false;
    if (charCode === dot && (previous === dot || previous === dash)) return false;
    previous = charCode;
  }
  return previous !== dot && previous !== dash;
}

function isAlphanumeric(charCode: number): boolean {
  return isDigit(charCode) || isLowercase(charCode) || (charCode >= 65 && charCode <= 90);
}

function isDigit(charCode: number): boolean {
  return charCode >= 48 && charCode <= 57;
}

function isLowercase(charCode: number): boolean {
  return charCode >= 97 && charCode <= 122;
}
