import { patternFactor, traversalFactor } from '../values/cost-factors.ts';
import {
  type CostRange,
  exactRange,
  minimumOf,
  plus,
  times,
  timesFactor,
  uint64Max,
  unknownSize,
} from './cost-range.ts';
import { type CallEstimate, type EstimatedCall, estimatedSizeOf } from './estimated-call.ts';
import type { EstimatedNode } from './known-sizes.ts';
import { estimateKubernetesCall } from './kubernetes-estimates.ts';

/** Undefined if a call has the default cost. */
export function estimateCall(call: EstimatedCall): CallEstimate | undefined {
  return estimateExtension(call) ?? estimateKubernetesCall(call) ?? estimateStandard(call);
}

/** Costs that extension libraries define for their overloads. */
function estimateExtension({ overload, target, args, sizes }: EstimatedCall): CallEstimate | undefined {
  const [first, second] = args;
  if (overload.startsWith('list_sets_') && first !== undefined && second !== undefined) {
    const factor = overload === 'list_sets_equivalent_list' ? 2 : 1;
    const compared = times(estimatedSizeOf(first, sizes), estimatedSizeOf(second, sizes));
    return { cost: plus(timesFactor(compared, factor), exactRange(1)) };
  }
  if (overload === 'lists_range') return allocating(1, exactRange(literalOf(first, uint64Max)));
  if (target === undefined) return undefined;
  const size = estimatedSizeOf(target, sizes);
  switch (overload) {
    case 'list_slice':
      return allocating(
        1,
        exactRange(BigInt.asUintN(64, literalOf(second, size.max) - literalOf(first, 0n))),
      );
    case 'list_flatten':
      return allocating(1, size);
    case 'list_flatten_int':
      return allocating(Number(literalOf(first, uint64Max)), size);
    case 'list_reverse':
      return allocating(1, size);
    case 'list_distinct':
      return allocating(2, times(size, size));
    default:
      return estimateSort(overload, size, first === undefined ? size : estimatedSizeOf(first, sizes));
  }
}

function estimateSort(overload: string, own: CostRange, keys: CostRange): CallEstimate | undefined {
  const match = /^list_(.*)_sort(ByAssociatedKeys)?$/.exec(overload);
  if (match === null) return undefined;
  const size = match[2] === undefined ? own : keys;
  const factor = match[1] === 'string' || match[1] === 'bytes' ? 2 + traversalFactor : 2;
  return allocating(factor, times(size, size));
}

function allocating(factor: number, resultSize: CostRange): CallEstimate {
  return { cost: plus(plus(timesFactor(resultSize, factor), exactRange(1)), exactRange(10)), resultSize };
}

function literalOf(node: EstimatedNode | undefined, otherwise: bigint): bigint {
  if (node?.expr?.kind !== 'literal' || typeof node.expr.value !== 'bigint') return otherwise;
  return node.expr.value < 0n ? 0n : node.expr.value;
}

/** The standard functions of cel-go. */
function estimateStandard({ overload, target, args }: EstimatedCall): CallEstimate | undefined {
  const [first, second] = args;
  const targetSize = target?.size ?? unknownSize;
  const firstSize = first?.size ?? unknownSize;
  switch (overload) {
    case 'string_format':
      return { cost: timesFactor(targetSize, traversalFactor) };
    case 'string_to_bytes':
      return {
        cost: timesFactor(firstSize, traversalFactor),
        resultSize: { min: firstSize.min, max: BigInt.asUintN(64, firstSize.max * 4n) },
      };
    case 'bytes_to_string':
      return {
        cost: timesFactor(firstSize, traversalFactor),
        resultSize: { min: firstSize.min / 4n, max: firstSize.max },
      };
    case 'strings_quote':
      return {
        cost: timesFactor(firstSize, traversalFactor),
        resultSize: { min: firstSize.min + 2n, max: BigInt.asUintN(64, firstSize.max * 2n + 2n) },
      };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: timesFactor(firstSize, traversalFactor) };
    case 'in_list':
      return { cost: timesFactor(second?.size ?? unknownSize, 1) };
    case 'matches_string':
      return { cost: patternCost(targetSize, firstSize) };
    case 'contains_string':
      return {
        cost: times(timesFactor(targetSize, traversalFactor), timesFactor(firstSize, traversalFactor)),
      };
    default:
      return estimateBinary(overload, firstSize, second?.size ?? unknownSize);
  }
}

const compares = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

function estimateBinary(overload: string, first: CostRange, second: CostRange): CallEstimate | undefined {
  const resultSize = plus(first, second);
  if (overload === 'add_list') return { cost: exactRange(1), resultSize };
  if (overload === 'add_string' || overload === 'add_bytes') {
    return { cost: timesFactor(resultSize, traversalFactor), resultSize };
  }
  if (!compares.test(overload)) return undefined;
  const max = minimumOf(first.max, second.max);
  return { cost: timesFactor({ min: max > 0n ? 1n : 0n, max }, traversalFactor) };
}

/** Matching an empty text with a large pattern has a cost, too. */
function patternCost(text: CostRange, pattern: CostRange): CostRange {
  return times(timesFactor(plus(text, exactRange(1)), traversalFactor), timesFactor(pattern, patternFactor));
}
