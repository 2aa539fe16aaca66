import {
  type Document,
  isAlias,
  isCollection,
  isScalar,
  LineCounter,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { formatGoSyntax } from '../../kube/go/format-value.ts';
import type { Json } from '../../kube/go/json-value.ts';
import { type ComposedDocument, composeDocuments, YamlDocumentError } from './yaml-composer.ts';
import { costProblem } from './yaml-limits.ts';
import { YamlValueError, YamlValues } from './yaml-value.ts';

/** The message begins with `yaml:`, as Go's messages do. */
export class YamlSyntaxError extends Error {}

export interface YamlDocument {
  /** Plain JSON; integers beyond 2^53 are `JsonNumber`. */
  readonly value: unknown;
  /** Duplicate keys of maps: `line 5: key "nodeName" already set in map`. The last value counts. */
  readonly duplicates: readonly string[];
  /** Whether more documents follow; they are ignored. */
  readonly hasMore: boolean;
}

/**
 * Parses the first document of a YAML text as Kubernetes does: YAML 1.1, where `yes` is true and `0644` is octal, but
 * times stay strings and `1:30` is not a number. Errors in later documents are not reported.
 */
export function readYaml(text: string): YamlDocument {
  const [first] = readYamlDocuments(text);
  // A text without a document yields an empty one.
  return first as YamlDocument;
}

/**
 * Parses the documents of a YAML text one at a time. `tokensMax` limits the work that a text may cause; by default, it is
 * the limit of requests.
 */
export function* readYamlDocuments(text: string, tokensMax?: number): Generator<YamlDocument> {
  const problem = costProblem(text, tokensMax);
  if (problem !== undefined) throw new YamlSyntaxError(problem);
  const lines = new LineCounter();
  for (const { document, hasMore } of composedDocuments(text, lines)) {
    refuseCollectionKeys(document);
    yield { value: plain(document), duplicates: duplicateKeys(document, lines), hasMore };
  }
}

function* composedDocuments(text: string, lines: LineCounter): Generator<ComposedDocument> {
  try {
    yield* composeDocuments(text, lines, {
      version: '1.1',
      uniqueKeys: false,
      intAsBigInt: true,
      resolveKnownTags: false,
      customTags: (tags) => [...tags.filter(isKnownToGo).map(withShortIntegers), binaryTag],
    });
  } catch (error) {
    if (error instanceof YamlDocumentError) throw syntaxErrorAt(error, lines);
    if (!(error instanceof RangeError)) throw error;
    throw new YamlSyntaxError('yaml: exceeded max depth of 10000');
  }
}

function syntaxErrorAt({ message, offset }: YamlDocumentError, lines: LineCounter): YamlSyntaxError {
  const { line } = lines.linePos(offset);
  const [reason = ''] = message.split(/ in flow |\n/);
  return new YamlSyntaxError(`yaml: line ${line || 1}: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`);
}

/**
 * Go's decoder ignores these tags or reads the values as texts. The YAML package would compare every entry of an
 * ordered map with all others.
 */
const unknownToGo: ReadonlySet<string> = new Set(
  ['binary', 'omap', 'pairs', 'set', 'timestamp'].map((name) => `tag:yaml.org,2002:${name}`),
);

function isKnownToGo(tag: Tags[number]): boolean {
  return typeof tag === 'string' || (!unknownToGo.has(tag.tag) && tag.format !== 'TIME');
}

/** Longer integers exceed 64 bits, and converting many digits takes long. Go reads them as floating-point numbers. */
const integerLengthMax = 100;

function withShortIntegers(tag: Tags[number]): Tags[number] {
  if (!isIntegerTag(tag)) return tag;
  const { resolve } = tag;
  const limited: ScalarTag = {
    ...tag,
    resolve: (text, onError, options) =>
      text.length > integerLengthMax ? Number(text.replaceAll('_', '')) : resolve(text, onError, options),
  };
  return limited;
}

function isIntegerTag(tag: Tags[number]): tag is ScalarTag {
  return typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:int' && tag.collection === undefined;
}

/** Go decodes the value to a text. */
const binaryTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
};

/** JSON allows no maps or lists as keys. Reports the innermost one, which Go finds first. */
function refuseCollectionKeys(document: Document.Parsed): void {
  const anchors = new Map<string, unknown>();
  let found: unknown;
  visit(document, {
    Pair(_, { key }) {
      const node = isAlias(key) ? anchors.get(key.source) : key;
      if (isCollection(node)) found = node;
    },
    Node(_, node) {
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  if (!isCollection(found)) return;
  const value = found;
  const key = orSyntaxError(() => new YamlValues().convert(value));
  throw new YamlSyntaxError(
    `yaml: invalid map key: ${formatGoSyntax(key as Json, 'map[interface {}]interface {}')}`,
  );
}

function plain(document: Document.Parsed): unknown {
  return orSyntaxError(() => new YamlValues().convert(document.contents));
}

function orSyntaxError<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof YamlValueError)) throw error;
    throw new YamlSyntaxError(`yaml: ${error.message}`);
  }
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
