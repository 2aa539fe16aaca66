import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';

/** The schema to which a path such as `.spec.color` refers, or why there is none. */
type FoundField =
  | {
      readonly kind: 'found';
      readonly steps: readonly string[];
      readonly schema: JSONSchemaProps | undefined;
    }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Follows property names and keys of maps. Items of lists cannot be named. */
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

/** Dots and brackets are tokens, and so is the text between them, except inside quotes. */
function tokensOf(path: string): readonly string[] {
  return path.match(/'(?:\\'|[^'])*'?|[.[\]]|[^.[\]']+[^.[\]]*/g) ?? [];
}
