import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';

/** Where a path such as `.spec.color` leads. */
type FoundField =
  | {
      readonly kind: 'found';
      readonly steps: readonly string[];
      readonly schema: JSONSchemaProps | undefined;
    }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Follows names through a schema; keys of maps count as names, items of lists can't be named. */
export function findField(path: string, root: JSONSchemaProps): FoundField {
  const steps: string[] = [];
  let schema: JSONSchemaProps | undefined = root;
  const tokens = tokensOf(path);
  for (let at = 0; at < tokens.length; at += 2) {
    const [token, name] = [tokens[at], tokens[at + 1]];
    if (token === '[') return wrong('array notation is not allowed');
    if (token !== '.') return wrong(`expected [ or . but got: ${token}`);
    if (name === undefined) return wrong('unexpected end of JSON path');
    const current: JSONSchemaProps = schema ?? {};
    const { properties, additionalProperties } = current;
    if (properties !== undefined) {
      if (!Object.hasOwn(properties, name)) return wrong('does not refer to a valid field');
      steps.push(name);
      schema = properties[name];
    } else if (additionalProperties !== undefined) {
      steps.push(`[${name}]`);
      schema = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    } else return wrong('does not refer to a valid field');
  }
  return { kind: 'found', steps, schema };
}

function wrong(problem: string): FoundField {
  return { kind: 'wrong', problem };
}

/** Dots and brackets are tokens of their own, and so is what stands between them; quotes keep them together. */
function tokensOf(path: string): readonly string[] {
  return path.match(/'(?:\\'|[^'])*'?|[.[\]]|[^.[\]']+[^.[\]]*/g) ?? [];
}
