import { type CostRange, unknownSize } from './cost-range.ts';
import type { EstimatedNode, KnownSizes } from './known-sizes.ts';

/** A call as far as it is known from the text. */
export interface EstimatedCall {
  readonly function: string;
  readonly overload: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
  readonly sizes: KnownSizes;
}

/** The possible cost of a call, without its arguments, and the possible size of its result. */
export interface CallEstimate {
  readonly cost: CostRange;
  readonly resultSize?: CostRange;
}

/** The size by the expression if it is known, otherwise by the schema. */
export function estimatedSizeOf(node: EstimatedNode, sizes: KnownSizes): CostRange {
  return node.size ?? (node.path === undefined ? undefined : sizes.sizeOfPath(node.path)) ?? unknownSize;
}
