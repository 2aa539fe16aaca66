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

/** What a call may cost, without its arguments, and how large its result may be. */
export interface CallEstimate {
  readonly cost: CostRange;
  readonly resultSize?: CostRange;
}

/** By what the expression says, or by what the schema says. */
export function estimatedSizeOf(node: EstimatedNode, sizes: KnownSizes): CostRange {
  return node.size ?? (node.path === undefined ? undefined : sizes.sizeOfPath(node.path)) ?? unknownSize;
}
