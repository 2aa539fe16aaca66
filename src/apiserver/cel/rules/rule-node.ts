import type { Json } from '../../../kube/go/json-value.ts';
import type { Correlation } from '../../structural/correlation.ts';
import type { JsonSchema } from '../../structural/json-schema.ts';
import type { CompiledRule } from './compiled-rule.ts';

/** The rules of one level of a schema, and of the levels below it. */
export interface RuleNode {
  readonly schema: JsonSchema;
  readonly isResourceRoot: boolean;
  /** Undefined where there are rules that can't see the values they are about. */
  readonly rules: readonly CompiledRule[] | undefined;
  readonly items: RuleNode | undefined;
  readonly entries: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly allOf: readonly RuleNode[];
}

/** Where a walk stands. */
export interface RulePosition {
  /** As field errors name it; empty for the object itself. */
  readonly path: string;
  readonly value: Json;
  readonly old: Json | undefined;
  /** The value with its old self; undefined where that can't be told. */
  readonly current: Correlation | undefined;
  /** The nearest place above that could be told. */
  readonly nearest: Correlation | undefined;
}
