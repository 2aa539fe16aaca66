import { Uint, type Value } from '../values/values.ts';
import type { Expr } from './ast.ts';
import type { Token } from './lexer.ts';
import type { NodeFactory } from './node-factory.ts';
import type { Issues } from './source.ts';
import { unescapeLiteral } from './unescape.ts';

/** The node of a literal token. Reports an issue if the token is not a valid literal. */
export function literalNode(token: Token, nodes: NodeFactory, issues: Issues): Expr {
  const value = literalValue(token);
  if (typeof value === 'object' && value !== null && 'problem' in value) {
    issues.report(token.offset, value.problem);
    return nodes.literal(token.offset, null);
  }
  return nodes.literal(token.offset, value);
}

function literalValue(token: Token): Value | { readonly problem: string } {
  switch (token.kind) {
    case 'int':
      return intLiteral(token.text) ?? { problem: 'invalid int literal' };
    case 'uint':
      return uintLiteral(token.text) ?? { problem: 'invalid uint literal' };
    case 'float':
      return doubleLiteral(token.text) ?? { problem: 'invalid double literal' };
    case 'string':
    case 'bytes':
      return quotedLiteral(token);
    default:
      return token.text === 'null' ? null : token.text === 'true';
  }
}

function quotedLiteral({ kind, text }: Token): Value | { readonly problem: string } {
  const isBytes = kind === 'bytes';
  const result = unescapeLiteral(isBytes ? text.slice(1) : text, isBytes);
  if (!result.ok) return { problem: result.problem };
  return isBytes ? result.bytes : result.text;
}

const int64Max = 2n ** 63n - 1n;
const uint64Max = 2n ** 64n - 1n;
/** Longer literals do not fit; converting many digits takes long. */
const literalLengthMax = 100;

/** Undefined if the number does not fit. */
function intLiteral(text: string): Value | undefined {
  if (text.length > literalLengthMax) return undefined;
  const isNegative = text.startsWith('-');
  const magnitude = BigInt(isNegative ? text.slice(1) : text);
  const value = isNegative ? -magnitude : magnitude;
  return value > int64Max || value < -int64Max - 1n ? undefined : value;
}

function uintLiteral(text: string): Value | undefined {
  if (text.length > literalLengthMax) return undefined;
  const value = BigInt(text.slice(0, -1));
  return value > uint64Max ? undefined : new Uint(value);
}

function doubleLiteral(text: string): Value | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
