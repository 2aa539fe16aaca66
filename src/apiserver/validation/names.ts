import type { Int64 } from '../../kube/api/stored/meta.ts';
import { isPrintable, utf8Length } from '../../kube/go/quote.ts';

/**
 * Rules for names. Each function returns the problems of a text, with Kubernetes' messages; empty if it is valid.
 * Lengths are in bytes, although some messages say characters.
 */
export type Problems = readonly string[];

/** `isPrefix`: the text is a `generateName`; it may end in a dash, because a suffix follows. */
type NameRule = (name: string, isPrefix: boolean) => Problems;

/** The name rules of kinds. Nearly all kinds use `dnsSubdomain`. */
export const nameRules = {
  dnsSubdomain: (name, isPrefix) => dnsSubdomainProblems(isPrefix ? withoutLastDash(name) : name),
  dnsLabel: (name, isPrefix) => dnsLabelProblems(isPrefix ? withoutLastDash(name) : name),
  dns1035Label: (name, isPrefix) => dns1035LabelProblems(isPrefix ? withoutLastDash(name) : name),
  pathSegment: (name, isPrefix) => (isPrefix ? pathPrefixProblems(name) : pathSegmentProblems(name)),
} as const satisfies Readonly<Record<string, NameRule>>;

export function dnsSubdomainProblems(text: string): Problems {
  return [...charactersProblems(text, subdomainBytesMax), ...formatProblems(text, subdomain)];
}

export function dnsLabelProblems(text: string): Problems {
  const tooLong = charactersProblems(text, labelBytesMax);
  if (label.pattern.test(text)) return tooLong;
  return subdomain.pattern.test(text)
    ? [...tooLong, 'must not contain dots']
    : [...tooLong, ...formatProblems(text, label)];
}

function dns1035LabelProblems(text: string): Problems {
  return [...charactersProblems(text, labelBytesMax), ...formatProblems(text, label1035)];
}

/** For example `*.example.com`. */
export function wildcardSubdomainProblems(text: string): Problems {
  return [...charactersProblems(text, subdomainBytesMax), ...formatProblems(text, wildcardSubdomain)];
}

export function pathSegmentProblems(text: string): Problems {
  return text === '.' || text === '..' ? [`may not be '${text}'`] : pathPrefixProblems(text);
}

/** A label key, a finalizer or a resource: a name, optionally after a DNS subdomain and a slash. */
export function qualifiedNameProblems(text: string): Problems {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) return [manySlashes];
  if (second === undefined) return nameProblems(first);
  return [...prefixProblems(first), ...nameProblems(second)];
}

export function labelValueProblems(text: string): Problems {
  return [...bytesProblems(text, labelBytesMax), ...formatProblems(text, labelValue)];
}

/** The name of a port of a container or a service (RFC 6335). */
export function portNameProblems(text: string): Problems {
  const problems = [...charactersProblems(text, portNameBytesMax)];
  if (!/^[-a-z0-9]+$/.test(text)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

export function portNumberProblems(port: number): Problems {
  return rangeProblems(port, 1, 65_535);
}

export function rangeProblems(value: Int64, min: number, max: number): Problems {
  return value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`];
}

/** The id of a user or a group in a container. */
export function idProblems(id: Int64): Problems {
  return rangeProblems(id, 0, 2_147_483_647);
}

export function cIdentifierProblems(text: string): Problems {
  return formatProblems(text, cIdentifier);
}

/** A key of a ConfigMap or a Secret. */
export function configKeyProblems(text: string): Problems {
  return [
    ...charactersProblems(text, subdomainBytesMax),
    ...formatProblems(text, configKey),
    ...parentProblems(text),
  ];
}

/** Printable ASCII without `=`, as in Kubernetes since 1.34. */
export function envVarNameProblems(text: string): Problems {
  const problems: string[] = [];
  if (text === '') problems.push('environment variable name must be non-empty');
  if (!/^[ -<>-~]*$/.test(text)) {
    problems.push(
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    );
  }
  return problems;
}

export function httpHeaderNameProblems(text: string): Problems {
  return formatProblems(text, httpHeaderName);
}

export function percentProblems(text: string): Problems {
  return formatProblems(text, percent);
}

/** The name of a field manager must be printable. The caller checks the length, see `object-meta.ts`. */
export function unprintableProblems(text: string): Problems {
  const problems: string[] = [];
  let position = 0;
  for (const rune of text) {
    if (!isPrintable(rune)) {
      const code = (rune.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      problems.push(`invalid character U+${code} (at position ${position})`);
    }
    position += utf8Length(rune);
  }
  return problems;
}

const labelBytesMax = 63;
const subdomainBytesMax = 253;
const portNameBytesMax = 15;

/** A pattern and the message for texts that do not match it. */
interface Format {
  readonly pattern: RegExp;
  readonly problem: string;
}

const labelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
const nameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const nameMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const label = formatOf(
  labelFormat,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
);

const subdomain = formatOf(
  subdomainFormat,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
);

const label1035 = formatOf(
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
);

const wildcardSubdomain = formatOf(
  `\\*\\.${subdomainFormat}`,
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  ['*.example.com'],
);

const qualifiedPart = formatOf(nameFormat, nameMessage, ['MyName', 'my.name', '123-abc']);
const manySlashes = `a valid label key ${qualifiedPart.problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;

const labelValue = formatOf(
  `(${nameFormat})?`,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
);

const cIdentifier = formatOf(
  '[A-Za-z_][A-Za-z0-9_]*',
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  ['my_name', 'MY_NAME', 'MyName'],
);

const configKey = formatOf(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  ['key.name', 'KEY_NAME', 'key-name'],
);

const httpHeaderName = formatOf(
  '[-A-Za-z0-9]+',
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  ['X-Header-Name'],
);

const percent = formatOf(
  '[0-9]+%',
  "a valid percent string must be a numeric string followed by an ending '%'",
  ['1%', '93%'],
);

function formatOf(format: string, detail: string, examples: readonly string[]): Format {
  return { pattern: new RegExp(`^${format}$`), problem: regexProblem(detail, format, examples) };
}

/** Kubernetes' message for a pattern: the requirement, examples, the pattern itself. */
export function regexProblem(detail: string, format: string, examples: readonly string[] = []): string {
  const listed = examples.map((example) => `'${example}', `).join(' or ');
  return examples.length === 0
    ? `${detail} (regex used for validation is '${format}')`
    : `${detail} (e.g. ${listed}regex used for validation is '${format}')`;
}

function formatProblems(text: string, { pattern, problem }: Format): Problems {
  return pattern.test(text) ? [] : [problem];
}

function charactersProblems(text: string, max: number): Problems {
  return utf8Length(text) > max ? [`must be no more than ${max} characters`] : [];
}

function bytesProblems(text: string, max: number): Problems {
  return utf8Length(text) > max ? [`must be no more than ${max} bytes`] : [];
}

function prefixProblems(prefix: string): Problems {
  if (prefix === '') return ['prefix part must be non-empty'];
  const problems = [...bytesProblems(prefix, subdomainBytesMax), ...formatProblems(prefix, subdomain)];
  return problems.map((problem) => `prefix part ${problem}`);
}

function nameProblems(name: string): Problems {
  const length = name === '' ? ['must be non-empty'] : bytesProblems(name, labelBytesMax);
  return [...length, ...formatProblems(name, qualifiedPart)].map((problem) => `name part ${problem}`);
}

function pathPrefixProblems(text: string): Problems {
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

function parentProblems(text: string): Problems {
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Kubernetes replaces the dash and the character before it by an `a`, and then checks the name. */
function withoutLastDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}
