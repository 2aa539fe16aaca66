import { requestUriProblem } from '../../../kube/url.ts';
import { labelValueProblems, nameRules, qualifiedNameProblems } from '../../validation/names.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { PlainList } from '../values/collections.ts';
import { parseCelTimestamp } from '../values/times.ts';
import { CelError, type OpaqueValue, Optional, type Value } from '../values/values.ts';

/** Named formats of texts; `validate` returns an optional list of problems. */
export const formatLibrary: FunctionLibrary = {
  signatures: `
    format.byte format.byte () -> kubernetes.NamedFormat
    format.date format.date () -> kubernetes.NamedFormat
    format.datetime format.datetime () -> kubernetes.NamedFormat
    format.dns1035Label format.dns1035Label () -> kubernetes.NamedFormat
    format.dns1035LabelPrefix format.dns1035LabelPrefix () -> kubernetes.NamedFormat
    format.dns1123Label format.dns1123Label () -> kubernetes.NamedFormat
    format.dns1123LabelPrefix format.dns1123LabelPrefix () -> kubernetes.NamedFormat
    format.dns1123Subdomain format.dns1123Subdomain () -> kubernetes.NamedFormat
    format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix () -> kubernetes.NamedFormat
    format.labelValue format.labelValue () -> kubernetes.NamedFormat
    format.named format-named (string) -> optional_type(kubernetes.NamedFormat)
    format.qualifiedName format.qualifiedName () -> kubernetes.NamedFormat
    format.uri format.uri () -> kubernetes.NamedFormat
    format.uuid format.uuid () -> kubernetes.NamedFormat
    .validate format-validate (kubernetes.NamedFormat, string) -> optional_type(list(string))
  `,
  implementations: {
    'format-named': (name) => optionally(formats[name as string]),
    'format-validate': (format, text) => problemsOf(format as FormatValue, text as string),
    ...Object.fromEntries(
      formatNames().map((name) => [
        `format.${name}`,
        () => formats[name] ?? new CelError('no such overload'),
      ]),
    ),
  },
};

class FormatValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'kubernetes.NamedFormat';
  readonly name: string;
  /** For costs: the approximate length of a pattern for it. */
  readonly patternSize: number;
  readonly check: (text: string) => readonly string[];

  constructor(name: string, patternSize: number, check: (text: string) => readonly string[]) {
    this.name = name;
    this.patternSize = patternSize;
    this.check = check;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }

  toString(): string {
    return this.name;
  }
}

function formatNames(): readonly string[] {
  return (
    'byte date datetime dns1035Label dns1035LabelPrefix dns1123Label dns1123LabelPrefix dns1123Subdomain ' +
    'dns1123SubdomainPrefix labelValue qualifiedName uri uuid'
  ).split(' ');
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const dateTimePatternSize = 71;

const formats: Readonly<Record<string, FormatValue>> = {
  dns1123Label: new FormatValue('DNS1123Label', 30, (text) => nameRules.dnsLabel(text, false)),
  dns1123Subdomain: new FormatValue('DNS1123Subdomain', 60, (text) => nameRules.dnsSubdomain(text, false)),
  dns1035Label: new FormatValue('DNS1035Label', 30, (text) => nameRules.dns1035Label(text, false)),
  qualifiedName: new FormatValue('QualifiedName', 60, qualifiedNameProblems),
  dns1123LabelPrefix: new FormatValue('DNS1123LabelPrefix', 30, (text) => nameRules.dnsLabel(text, true)),
  dns1123SubdomainPrefix: new FormatValue('DNS1123SubdomainPrefix', 60, (text) =>
    nameRules.dnsSubdomain(text, true),
  ),
  dns1035LabelPrefix: new FormatValue('DNS1035LabelPrefix', 30, (text) => nameRules.dns1035Label(text, true)),
  labelValue: new FormatValue('LabelValue', 40, labelValueProblems),
  uri: new FormatValue('URI', 1103, (text) => {
    const problem = requestUriProblem(text);
    return problem === undefined ? [] : [problem];
  }),
  uuid: new FormatValue('uuid', 70, (text) => (uuid.test(text) ? [] : ['does not match the UUID format'])),
  byte: new FormatValue('byte', 84, (text) => (isBase64(text) ? [] : ['invalid base64'])),
  date: new FormatValue('date', dateTimePatternSize, (text) => (isDate(text) ? [] : ['invalid date'])),
  datetime: new FormatValue('datetime', dateTimePatternSize, (text) =>
    isDateTime(text) ? [] : ['invalid datetime'],
  ),
};

function optionally(format: FormatValue | undefined): Value {
  return format === undefined ? Optional.none : new Optional(format);
}

function problemsOf(format: FormatValue, text: string): Value {
  const problems = format.check(text);
  return problems.length === 0 ? Optional.none : new Optional(new PlainList([...problems]));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text.replaceAll(/[\r\n]/g, ''));
}

function isDate(text: string): boolean {
  return parseCelTimestamp(`${text}T00:00:00Z`) !== undefined;
}

function isDateTime(text: string): boolean {
  return parseCelTimestamp(text.toUpperCase()) !== undefined && /^.{10}[Tt]/.test(text);
}
