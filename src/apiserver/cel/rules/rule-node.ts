import type { Json } from '../../../kube/go/json-value.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import type { Correlation } from '../../structural/correlation.ts';
import type { CompiledRule } from './compiled-rule.ts';

/** The rules of one level of a schema, and of the levels below it. */
export interface RuleNode {
  readonly schema: JsonSchema;
  readonly isResourceRoot: boolean;
  /** Undefined if there are rules that cannot access their values. */
  readonly rules: readonly CompiledRule[] | undefined;
  readonly items: RuleNode | undefined;
  readonly entries: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly allOf: readonly RuleNode[];
}

/** The current position of a walk. */
export interface RulePosition {
  /** The path as field errors print it; empty for the object itself. */
  readonly path: string;
  readonly value: Json;
  readonly old: Json | undefined;
  /** The value and its old value; undefined if they cannot be correlated. */
  readonly current: Correlation | undefined;
  /** The nearest outer value that can be correlated. */
  readonly nearest: Correlation | undefined;
}
