import { escapedCharacters } from '../../../kube/go/quote.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';

export type RuleFieldPath =
  | { readonly ok: true; readonly path: string; readonly schema: JsonSchema }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses `.spec.names['a.b']` by a schema: fields by their names, entries of maps by their keys. The resulting path is
 * in the notation of field errors.
 */
export function parseFieldPath(text: string, schema: JsonSchema): RuleFieldPath {
  let current = schema;
  let path = '';
  const tokens = tokenize(text);
  while (tokens.length > 0) {
    const name = nextName(tokens);
    if ('problem' in name) return { ok: false, problem: name.problem };
    const step = follow(current, name.name);
    if (step === undefined) return { ok: false, problem: 'does not refer to a valid field' };
    path += step.isNamed && path !== '' ? `.${name.name}` : step.isNamed ? name.name : `[${name.name}]`;
    current = step.schema;
  }
  return { ok: true, path, schema: current };
}

/** Dots and brackets are single tokens; quoted text is one token. */
function tokenize(text: string): string[] {
  return text.match(/'(?:[^'\\]|\\[\s\S])*'?|[.[\]]|[^.[\]]+/g) ?? [];
}

type ParsedName = { readonly name: string } | { readonly problem: string };

function nextName(tokens: string[]): ParsedName {
  const first = tokens.shift();
  if (first === '.') {
    const name = tokens.shift();
    return name === undefined ? { problem: 'unexpected end of JSON path' } : { name };
  }
  if (first !== '[') return { problem: `expected [ or . but got: ${first}` };
  const quoted = tokens.shift();
  if (quoted === undefined) return { problem: 'unexpected end of JSON path' };
  if (!/^'[\s\S]*'$/.test(quoted) || quoted.length < 2) {
    return { problem: `expected single quoted string but got ${quoted}` };
  }
  const name = unescapeQuoted(quoted.slice(1, -1));
  if ('problem' in name) return name;
  const close = tokens.shift();
  if (close === undefined) return { problem: 'unexpected end of JSON path' };
  return close === ']' ? name : { problem: `expected ] but got ${close}` };
}

const escapes: Readonly<Record<string, string>> = { ...escapedCharacters, "'": "'" };

function unescapeQuoted(text: string): ParsedName {
  let problem: string | undefined;
  const name = text.replace(/\\(.)/g, (whole, letter: string) => {
    const plain = escapes[letter];
    if (plain === undefined) problem = `invalid string literal: invalid escape char ${whole}`;
    return plain ?? '';
  });
  return problem === undefined ? { name } : { problem };
}

function follow(
  schema: JsonSchema,
  name: string,
): { readonly schema: JsonSchema; readonly isNamed: boolean } | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property === undefined ? undefined : { schema: property, isNamed: true };
  }
  return typeof additionalProperties === 'object'
    ? { schema: additionalProperties, isNamed: false }
    : undefined;
}
