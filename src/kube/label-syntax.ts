/**
 * A label key: a name of up to 63 characters, optionally after a DNS subdomain of up to 253 and a slash. Kubernetes
 * refuses a selector whose key or value no label could have.
 */
export function isLabelKey(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const slash = text.indexOf('/');
  if (slash < 0) return isLabelName(text);
  return isDnsSubdomain(text.slice(0, slash)) && isLabelName(text.slice(slash + 1));
}

/** A label value: empty, or up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
export function isLabelValue(text: unknown): text is string {
  return text === '' || (typeof text === 'string' && isLabelName(text));
}

const labelNameLengthMax = 63;
const subdomainLengthMax = 253;

function isLabelName(text: string): boolean {
  const last = text.length - 1;
  if (last < 0 || last >= labelNameLengthMax) return false;
  if (!isAlphanumeric(text.charCodeAt(0)) || !isAlphanumeric(text.charCodeAt(last))) return false;
  for (let index = 1; index < last; index++) {
    const charCode = text.charCodeAt(index);
    if (!isAlphanumeric(charCode) && charCode !== 45 && charCode !== 46 && charCode !== 95) return false;
  }
  return true;
}

function isDnsSubdomain(text: string): boolean {
  return text.length <= subdomainLengthMax && text.split('.').every(isDnsLabel);
}

function isDnsLabel(text: string): boolean {
  const last = text.length - 1;
  if (last < 0 || text[0] === '-' || text[last] === '-') return false;
  for (let index = 0; index <= last; index++) {
    const charCode = text.charCodeAt(index);
    if (!isDigit(charCode) && !isLowercase(charCode) && charCode !== 45) return false;
  }
  return true;
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
