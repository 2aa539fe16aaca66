import { type CelType, sameType, typeArgument } from '../types/types.ts';
import { patternFactor, traversalFactor } from '../values/cost-factors.ts';
import { type CostRange, exactRange, plus, rangeUnion, times, timesFactor, uint64Max } from './cost-range.ts';
import { type CallEstimate, type EstimatedCall, estimatedSizeOf } from './estimated-call.ts';
import type { EstimatedNode } from './known-sizes.ts';

/** Kubernetes' own libraries, and its costs for the extensions that it adopted. */
export function estimateKubernetesCall(call: EstimatedCall): CallEstimate | undefined {
  const estimate = estimates.get(call.function);
  return estimate?.(call);
}

type Estimate = (call: EstimatedCall) => CallEstimate | undefined;

const nominal: Estimate = () => ({ cost: exactRange(1) });

const ofFirst: Estimate = ({ args, sizes, overload }) => {
  if (overload === 'cidr_ip') return { cost: exactRange(1) };
  return args[0] === undefined
    ? undefined
    : { cost: timesFactor(estimatedSizeOf(args[0], sizes), traversalFactor) };
};

const ofFirstTwice: Estimate = ({ args, sizes }) =>
  args[0] === undefined
    ? undefined
    : { cost: timesFactor(estimatedSizeOf(args[0], sizes), 2 * traversalFactor) };

const url: Estimate = ({ args, sizes }) => {
  if (args[0] === undefined) return undefined;
  const resultSize = estimatedSizeOf(args[0], sizes);
  return { cost: timesFactor(resultSize, traversalFactor), resultSize };
};

const ofTarget: Estimate = ({ target, sizes }) => {
  if (target === undefined) return undefined;
  const resultSize = estimatedSizeOf(target, sizes);
  return { cost: timesFactor(resultSize, traversalFactor), resultSize };
};

/** One comparison for each element, plus the traversal of texts. */
const overList: Estimate = ({ target, sizes }) => {
  if (target === undefined) return undefined;
  const size = estimatedSizeOf(target, sizes);
  const element = elementNode(target);
  if (element === undefined) return { cost: timesFactor(size, traversalFactor) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  const each = isText
    ? plus(exactRange(1), timesFactor(estimatedSizeOf(element, sizes), traversalFactor))
    : exactRange(1);
  return { cost: times(size, each) };
};

const split: Estimate = ({ target, args, sizes }) => {
  if (target === undefined) return undefined;
  const size = estimatedSizeOf(target, sizes);
  const limit = args[1]?.expr;
  const isLiteral = limit?.kind === 'literal' && typeof limit.value === 'bigint';
  const max = isLiteral ? BigInt.asUintN(64, limit.value as bigint) : size.max;
  return { cost: timesFactor(size, 2 * traversalFactor), resultSize: { min: 0n, max } };
};

const join: Estimate = ({ target, args, sizes }) => {
  if (target === undefined) return undefined;
  const count = estimatedSizeOf(target, sizes);
  const element = elementNode(target);
  let resultSize: CostRange =
    element === undefined ? exactRange(0) : times(count, estimatedSizeOf(element, sizes));
  if (args[0] !== undefined) {
    const between = { min: minusOne(count.min), max: minusOne(count.max) };
    resultSize = plus(resultSize, times(estimatedSizeOf(args[0], sizes), between));
  }
  return { cost: timesFactor(resultSize, traversalFactor), resultSize };
};

const find: Estimate = ({ target, args, sizes }) => {
  if (target === undefined || args[0] === undefined) return undefined;
  const size = estimatedSizeOf(target, sizes);
  const text = timesFactor(plus(size, exactRange(1)), traversalFactor);
  const pattern = timesFactor(estimatedSizeOf(args[0], sizes), patternFactor);
  return { cost: times(text, pattern), resultSize: { min: 0n, max: size.max } };
};

const replace: Estimate = ({ target, args, sizes }) => {
  const [from, to] = args;
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const size = estimatedSizeOf(target, sizes);
  const resultSize = replacedSize(size, estimatedSizeOf(from, sizes), estimatedSizeOf(to, sizes));
  return { cost: timesFactor(size, 2 * traversalFactor), resultSize };
};

/** The longest result has the most and longest replacements, the shortest the fewest. */
function replacedSize(size: CostRange, from: CostRange, to: CostRange): CostRange {
  let count = { min: 0n, max: 0n };
  let kept = { min: 0n, max: 0n };
  if (from.min === 0n) {
    count = { ...count, max: plusOne(size.max) };
    kept = { ...kept, max: size.max };
  } else if (to.max <= from.min) {
    kept = { ...kept, max: size.max };
  } else {
    count = { ...count, max: dividedRoundingUp(size.max, from.min) };
  }
  if (from.max === 0n) {
    count = { ...count, min: plusOne(size.min) };
    kept = { ...kept, min: size.min };
  } else if (from.max <= to.min) {
    kept = { ...kept, min: size.min };
  } else {
    count = { ...count, min: dividedRoundingUp(size.min, from.max) };
  }
  return plus(times(count, to), kept);
}

/** Addresses have 4 or 16 bytes. */
const addressSize: CostRange = { min: 4n, max: 16n };

const contains: Estimate = ({ function: name, overload, args, sizes }) => {
  if (args[0] === undefined) return undefined;
  let cost = timesFactor(plus(addressSize, addressSize), traversalFactor);
  if (name === 'containsCIDR')
    cost = plus(plus(cost, timesFactor(addressSize, traversalFactor)), exactRange(1));
  if (overload.endsWith('_string'))
    cost = plus(cost, timesFactor(estimatedSizeOf(args[0], sizes), traversalFactor));
  return { cost };
};

const longestFormatPattern = 128;
const longestFormat = 64n;

const validate: Estimate = ({ args, sizes }) => {
  if (args[0] === undefined) return undefined;
  const text = timesFactor(estimatedSizeOf(args[0], sizes), traversalFactor);
  return { cost: timesFactor(text, longestFormatPattern * patternFactor) };
};

const equality: Estimate = ({ args }) => {
  const [left, right] = args;
  if (left === undefined || right === undefined || !sameType(left.type, right.type)) return undefined;
  switch (left.type.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return { cost: exactRange(1) };
    case 'kubernetes.NamedFormat':
      return { cost: timesFactor({ min: 1n, max: longestFormat }, traversalFactor) };
    case 'kubernetes.URL': {
      const max = right.size === undefined ? 1n : rangeUnion(right.size, right.size).max;
      return { cost: timesFactor({ min: 1n, max }, traversalFactor) };
    }
    default:
      return undefined;
  }
};

const estimates: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ...named('isSorted sum max min indexOf lastIndexOf', overList),
  ...named('url', url),
  ...named('lowerAscii upperAscii substring trim', ofTarget),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ...named('find findAll', find),
  ...named('cidr isIP isCIDR ip quantity isQuantity semver isSemver', ofFirst),
  ['ip.isCanonical', ofFirstTwice],
  ...named('containsIP containsCIDR', contains),
  ['validate', validate],
  ['_==_', equality],
  ...named(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast ' +
      'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor ' +
      'patch getScheme getHostname getHost getPort getEscapedPath getQuery',
    nominal,
  ),
]);

function named(names: string, estimate: Estimate): readonly (readonly [string, Estimate])[] {
  return names.split(' ').map((name) => [name, estimate] as const);
}

/** The element of a list; undefined for types without parameters, such as texts. */
function elementNode({ type, path }: EstimatedNode): EstimatedNode | undefined {
  if (type.params.length === 0) return undefined;
  const element: CelType = typeArgument(type);
  const elementPath = path === undefined ? undefined : [...path, '@items'];
  return { path: elementPath, type: element, expr: undefined, size: undefined };
}

function minusOne(value: bigint): bigint {
  return value > 0n ? value - 1n : 0n;
}

function plusOne(value: bigint): bigint {
  return value < uint64Max ? value + 1n : value;
}

function dividedRoundingUp(value: bigint, by: bigint): bigint {
  const quotient = Math.ceil(Number(value) / Number(by));
  return quotient >= 2 ** 64 ? uint64Max : BigInt(quotient);
}
