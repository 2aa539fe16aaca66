import { type Document, isAlias, isCollection, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { formatGoSyntax } from '../../kube/go/format-value.ts';
import { JsonNumber } from '../../kube/go/json-number.ts';
import { type Json, setKey } from '../../kube/go/json-value.ts';
import { costProblem } from './yaml-limits.ts';

/** The message begins with `yaml:`, as Go's messages do. */
export class YamlSyntaxError extends Error {}

export interface YamlDocument {
  /** Plain JSON; integers beyond 2^53 are {@link JsonNumber}. */
  readonly value: unknown;
  /** Duplicate keys of maps: `line 5: key "nodeName" already set in map`. The last value counts. */
  readonly duplicates: readonly string[];
  /** Whether more documents follow; they are ignored. */
  readonly hasMore: boolean;
}

/**
 * Parses the first document of a YAML text as Kubernetes does: YAML 1.1, where `yes` is true and `0644` is octal, but
 * times stay strings and `1:30` is not a number.
 */
export function readYaml(text: string): YamlDocument {
  const problem = costProblem(text);
  if (problem !== undefined) throw new YamlSyntaxError(problem);
  const lines = new LineCounter();
  const document = parse(text, lines);
  const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
  if (error !== undefined) {
    const line = error.linePos?.[0].line ?? 1;
    const [reason = ''] = error.message.split(/ at line | in flow |\n/);
    throw new YamlSyntaxError(`yaml: line ${line}: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`);
  }
  refuseCollectionKeys(document);
  const hasMore = document.errors.length > 0;
  return { value: plain(document), duplicates: duplicateKeys(document, lines), hasMore };
}

/** Limits aliases that would expand beyond the memory. */
const aliasesMax = 100;

function parse(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, {
      version: '1.1',
      uniqueKeys: false,
      intAsBigInt: true,
      lineCounter,
      customTags: (tags) =>
        tags.filter((tag) => typeof tag === 'string' || (tag.tag !== timestampTag && tag.format !== 'TIME')),
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new YamlSyntaxError('yaml: exceeded max depth of 10000');
  }
}

const timestampTag = 'tag:yaml.org,2002:timestamp';

/** JSON allows no maps or lists as keys. Reports the innermost one, which Go finds first. */
function refuseCollectionKeys(document: Document.Parsed): void {
  let found: unknown;
  visit(document, {
    Pair(_, { key }) {
      const node = isAlias(key) ? key.resolve(document) : key;
      if (isCollection(node)) found = node;
    },
  });
  if (!isCollection(found)) return;
  const value = withNumbers(found.toJS(document, { maxAliasCount: aliasesMax }));
  throw new YamlSyntaxError(
    `yaml: invalid map key: ${formatGoSyntax(value as Json, 'map[interface {}]interface {}')}`,
  );
}

function plain(document: Document.Parsed): unknown {
  try {
    return withNumbers(document.toJS({ maxAliasCount: aliasesMax }));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new YamlSyntaxError(`yaml: ${error.message}`);
  }
}

function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : new JsonNumber(value.toString());
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withNumbers);
  const object: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) setKey(object, key, withNumbers(each));
  return object;
}

function duplicateKeys(document: Document.Parsed, lines: LineCounter): string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          found.push(`line ${line}: key ${JSON.stringify(String(key.value))} already set in map`);
        }
        seen.add(key.value);
      }
    },
  });
  return found;
}
