import { parseAst } from 'vitest/node';

/** A file of the repository, by its path from the root. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Something that a source says, and where. */
export interface Mention {
  readonly name: string;
  readonly offset: number;
}

/** What the rules need to know of a TypeScript file, from its syntax tree: comments and strings don't count. */
export interface SourceFacts extends TextFile {
  /** The specifiers of its imports and re-exports of every kind, types included. */
  readonly imports: readonly Mention[];
  /**
   * The names it refers to, with their dots: `setTimeout`, `Date.now`, `process.hrtime.bigint`. `globalThis.` is left
   * out, `new Date()` without arguments is `new Date()`, and a name imported from Node counts as `crypto.randomUUID`.
   */
  readonly references: readonly Mention[];
  readonly defaultExports: readonly Mention[];
  readonly anyCasts: readonly Mention[];
}

export function readSource({ path, text }: TextFile): SourceFacts {
  const facts = { path, text, imports: [], references: [], defaultExports: [], anyCasts: [] };
  walk(parseAst(text, { lang: 'ts' }, path) as unknown as Node, facts);
  return facts;
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** A node of the ESTree that the parser makes of TypeScript. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

type Collected = { readonly [fact in Exclude<keyof SourceFacts, 'path' | 'text'>]: Mention[] };

function walk(node: Node, facts: Collected): void {
  collect(node, facts);
  for (const [field, value] of Object.entries(node)) {
    if (isMerelyAName(node, field)) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, facts);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The `b` of `a.b`, of `{ b: a }` and of `{ b() {} }` refers to nothing. */
function isMerelyAName(node: Node, field: string): boolean {
  return (field === 'property' || field === 'key') && node.computed !== true;
}

function collect(node: Node, facts: Collected): void {
  const mention = (name: string): Mention => ({ name, offset: node.start });
  switch (node.type) {
    case 'ImportDeclaration':
      facts.references.push(...importedFromNode(node));
      facts.imports.push(mention(textOf(node.source)));
      break;
    case 'ImportExpression':
    case 'TSImportType':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      if (isNode(node.source)) facts.imports.push(mention(textOf(node.source)));
      break;
    case 'ExportDefaultDeclaration':
      facts.defaultExports.push(mention('default'));
      break;
    case 'ExportSpecifier':
      if (nameOf(node.exported) === 'default') facts.defaultExports.push(mention('default'));
      break;
    case 'TSAsExpression':
    case 'TSTypeAssertion':
      if (isNode(node.typeAnnotation) && node.typeAnnotation.type === 'TSAnyKeyword')
        facts.anyCasts.push(mention('any'));
      break;
    case 'Identifier':
    case 'MemberExpression':
      facts.references.push(mention(nameOf(node).replace(/^globalThis\./, '')));
      break;
    case 'NewExpression':
    case 'CallExpression':
      if (nameOf(node.callee) === 'Date' && (node.arguments as unknown[]).length === 0)
        facts.references.push(mention('new Date()'));
      break;
  }
}

/** `import { randomUUID } from 'node:crypto'` refers to `crypto.randomUUID`. */
function importedFromNode(declaration: Node): Mention[] {
  const [, moduleName] = /^node:(.*)$/.exec(textOf(declaration.source)) ?? [];
  if (moduleName === undefined) return [];
  return (declaration.specifiers as Node[]).map(({ imported, start }) => ({
    name: `${moduleName}.${nameOf(imported)}`,
    offset: start,
  }));
}

/** `a.b.c` of an identifier or a chain of members; `?` for a part that is not known before it runs. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '?';
  if (node.type === 'Identifier') return String(node.name);
  if (node.type === 'Literal') return textOf(node);
  if (node.type !== 'MemberExpression') return '?';
  const isDynamic = node.computed === true && !(isNode(node.property) && node.property.type === 'Literal');
  return `${nameOf(node.object)}.${isDynamic ? '?' : nameOf(node.property)}`;
}

function textOf(node: unknown): string {
  return isNode(node) && typeof node.value === 'string' ? node.value : '?';
}
