import { utf8Length } from '../../../kube/go/quote.ts';
import { isIpv6 } from '../../../kube/ip-address.ts';
import { requestUriProblem } from '../../../kube/url.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { typesOf } from '../type-check.ts';
import { isCidrFormat, isIpv4Format, isMacFormat } from './addresses.ts';
import { isMailAddress } from './mail-address.ts';
import { isDateFormat, isDateTimeFormat, isDurationFormat } from './times.ts';

export type FormatRule = (text: string) => boolean;

/** The format of a schema; empty if its type does not have it: such formats are ignored. */
export function knownFormat(schema: JsonSchema): string {
  const { format = '' } = schema;
  const types = typesOf(schema);
  const type = types.length === 1 ? types[0] : '';
  if (type === '' || type === 'string') return formatRule(format) === undefined ? '' : format;
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (type === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
}

/** Dashes in the name of a format have no meaning. */
export function formatRule(format: string): FormatRule | undefined {
  return rules.get(format.replaceAll('-', ''));
}

const shortName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const hostName =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const creditCard =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const colorPart = '[\\t\\n\\f\\r ]*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])[\\t\\n\\f\\r ]*';

/** The formats of kube-apiserver's version; their names are without dashes. */
const rules: ReadonlyMap<string, FormatRule> = new Map<string, FormatRule>([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['uri', (text) => requestUriProblem(text) === undefined],
  ['email', isMailAddress],
  ['hostname', isHostName],
  ['ipv4', isIpv4Format],
  ['ipv6', isIpv6],
  ['cidr', isCidrFormat],
  ['mac', isMacFormat],
  ['uuid', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matching(new RegExp(`^rgb\\(${colorPart},${colorPart},${colorPart}\\)$`))],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDateFormat],
  ['duration', isDurationFormat],
  ['datetime', isDateTimeFormat],
  ['k8sshortname', (text) => text.length <= 63 && shortName.test(text)],
  ['k8slongname', (text) => text.length <= 253 && text.split('.').every((part) => shortName.test(part))],
]);

function matching(pattern: RegExp): FormatRule {
  return (text) => pattern.test(text);
}

/** The lengths are checked first: matching the pattern with a long text could take long. */
function isHostName(text: string): boolean {
  if (utf8Length(text) > 255) return false;
  return text.split('.').every((part) => utf8Length(part) <= 63) && hostName.test(text);
}

/** An empty text is not valid for this format. */
function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = digits.endsWith('X') ? 100 : 10 * Number(digits[9]);
  for (let at = 0; at < 9; at++) sum += (at + 1) * Number(digits[at]);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at++) sum += (at % 2 === 0 ? 1 : 3) * Number(digits[at]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!creditCard.test(digits)) return false;
  let sum = 0;
  for (let at = digits.length - 1, twice = false; at >= 0; at--, twice = !twice) {
    const digit = Number(digits[at]) * (twice ? 2 : 1);
    sum += digit >= 10 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
