import { patternFactor, traversalFactor } from '../values/cost-factors.ts';
import { CelError, isList, isMap, isOpaque, type Value, valueSize } from '../values/values.ts';

/** A call that was evaluated. */
export interface EvaluatedCall {
  readonly function: string;
  /** Empty if the call was dispatched by values. */
  readonly overload: string;
  readonly args: readonly Value[];
  readonly result: Value;
}

/**
 * cel-go panics when it computes the cost of sorting if an error is there instead of a list. The evaluation then ends
 * with the message of that panic.
 */
export class CostPanic extends Error {
  constructor() {
    super('internal error: interface conversion: *types.Err is not traits.Lister: missing method Add');
  }
}

/** The cost of a call by the sizes of its arguments, with the numbers of Kubernetes' and cel-go's libraries. */
export function runtimeCallCost(call: EvaluatedCall): number {
  return overloadCost(call) ?? kubernetesCost(call) ?? standardCost(call);
}

const callCost = 1;
const listCost = 10;

/** Costs that extension libraries define for their overloads. */
function overloadCost({ overload, args, result }: EvaluatedCall): number | undefined {
  if (overload.startsWith('list_sets_')) {
    const factor = overload === 'list_sets_equivalent_list' ? 2 : 1;
    return callCost + argSize(args, 0) * argSize(args, 1) * factor;
  }
  if (overload.endsWith('_sort') || overload === 'list_distinct') return selfComparison(args[0]);
  if (overload.endsWith('_sortByAssociatedKeys')) return selfComparison(args[1]);
  switch (overload) {
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return valueSize(result) + callCost + listCost;
    case 'list_flatten':
      return argSize(args, 0) + callCost + listCost;
    case 'list_flatten_int':
      return Math.trunc(argSize(args, 0) * Number(args[1] ?? 1)) + callCost + listCost;
    default:
      return undefined;
  }
}

function selfComparison(list: Value | undefined): number {
  if (list instanceof CelError) throw new CostPanic();
  if (list === undefined || !isList(list) || list.size === 0) return callCost + listCost;
  const first = list.at(0);
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + traversalFactor : 2;
  return Math.trunc(list.size * list.size * factor) + callCost + listCost;
}

/** The cost of a call, which Kubernetes determines by the name of the function. */
function kubernetesCost(call: EvaluatedCall): number | undefined {
  const { args } = call;
  const rule = costRules.get(call.function);
  switch (rule) {
    case undefined:
      return call.function === '_==_' && isUnitEquality(args[0]) ? 1 : undefined;
    case 'nominal':
      return 1;
    case 'list traversal':
      return args[0] === undefined ? 0 : traversalCost(args[0]);
    case 'traversal':
      return call.overload === 'cidr_ip' ? 1 : traverse(argSize(args, 0), 1);
    case 'two traversals':
      return traverse(argSize(args, 0), 2);
    case 'result':
      return traverse(valueSize(call.result), 2);
    case 'pattern':
      return (
        Math.ceil((1 + argSize(args, 0)) * traversalFactor) * Math.ceil(argSize(args, 1) * patternFactor)
      );
    case 'network':
      return networkCost(call);
    case 'format':
      return formatCost(args);
  }
}

type CostRule =
  | 'nominal'
  | 'list traversal'
  | 'traversal'
  | 'two traversals'
  | 'result'
  | 'pattern'
  | 'network'
  | 'format';

const costRules: ReadonlyMap<string, CostRule> = new Map(
  Object.entries({
    'list traversal': 'isSorted sum max min indexOf lastIndexOf',
    traversal:
      'url lowerAscii upperAscii substring trim cidr isIP isCIDR ip quantity isQuantity semver isSemver',
    'two traversals': 'replace split ip.isCanonical',
    result: 'join',
    pattern: 'find findAll',
    network: 'containsIP containsCIDR',
    format: 'validate',
    nominal:
      'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast ' +
      'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor ' +
      'patch getScheme getHostname getHost getPort getEscapedPath getQuery',
  }).flatMap(([rule, names]) => names.split(' ').map((name) => [name, rule as CostRule] as const)),
);

function networkCost({ function: name, overload, args }: EvaluatedCall): number {
  const own = argSize(args, 0);
  const parsed = overload.endsWith('_string') ? traverse(argSize(args, 1), 1) : 0;
  const compared = traverse(own + own, 1) + parsed;
  return name === 'containsIP' ? compared : compared + traverse(own, 1) + 1;
}

function formatCost(args: readonly Value[]): number | undefined {
  const format = args[0];
  if (format === undefined || !isOpaque(format) || !('patternSize' in format)) return undefined;
  const patternSize = Number(format.patternSize);
  return Math.ceil((1 + argSize(args, 1)) * traversalFactor) * Math.ceil(patternSize * patternFactor);
}

/** Equality of values of Kubernetes' own types. */
function isUnitEquality(value: Value | undefined): boolean {
  return value !== undefined && isOpaque(value);
}

function standardCost({ overload, args }: EvaluatedCall): number {
  switch (overload) {
    case 'starts_with_string':
    case 'ends_with_string':
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return traverse(argSize(args, 0), 1);
    case 'in_list':
      return argSize(args, 1);
    case 'equals':
    case 'not_equals':
      return traverse(Math.min(argSize(args, 0), argSize(args, 1)), 1);
    case 'add_string':
    case 'add_bytes':
      return traverse(argSize(args, 0) + argSize(args, 1), 1);
    case 'matches_string':
      return (
        Math.ceil((1 + argSize(args, 0)) * traversalFactor) * Math.ceil(argSize(args, 1) * patternFactor)
      );
    case 'contains_string':
      return traverse(argSize(args, 0), 1) * traverse(argSize(args, 1), 1);
    default:
      if (!orderedTexts.test(overload)) return 1;
      return traverse(Math.min(argSize(args, 0), argSize(args, 1)), 1);
  }
}

const orderedTexts = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/;

function traverse(size: number, times: number): number {
  return Math.ceil(size * times * traversalFactor);
}

function argSize(args: readonly Value[], index: number): number {
  const arg = args[index];
  return arg === undefined ? 1 : valueSize(arg);
}

/** The cost of visiting everything in a value. Texts count by their bytes here. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * traversalFactor);
  if (value instanceof Uint8Array) return Math.trunc(value.length * traversalFactor);
  if (value instanceof CelError) return 1;
  let cost = 0;
  if (isList(value)) {
    for (let index = 0; index < value.size; index++) cost += traversalCost(value.at(index));
    return cost;
  }
  if (!isMap(value)) return 1;
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null);
  return cost;
}
