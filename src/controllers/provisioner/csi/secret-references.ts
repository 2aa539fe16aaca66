import type { PersistentVolumeClaim, SecretReference } from '../../../kube/api/core.ts';
import type { SecretTemplate, SecretUse } from './class-parameters.ts';

const namePattern = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;
const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const nameLengthMax = 253;

export type SecretReferences = ReadonlyMap<SecretUse, SecretReference>;

/**
 * Replaces the variables of templates. The namespace may contain only what users of claims do not control: `${pv.name}` and
 * `${pvc.namespace}`. The name may also contain `${pvc.name}` and `${pvc.annotations['KEY']}`. Throws if a variable is unknown, or the
 * result is not a valid name of a Secret.
 */
export function secretReferences(
  templates: ReadonlyMap<SecretUse, SecretTemplate>,
  claim: PersistentVolumeClaim,
  volumeName: string,
): SecretReferences {
  const { name = '', namespace = '', annotations = {} } = claim.metadata ?? {};
  const trusted = new Map([
    ['pv.name', volumeName],
    ['pvc.namespace', namespace],
  ]);
  const all = new Map([
    ...trusted,
    ['pvc.name', name],
    ...Object.entries(annotations).map(
      ([key, value]) => [`pvc.annotations['${key}']`, value] as [string, string],
    ),
  ]);
  return new Map(
    [...templates].map(([use, template]) => {
      const reference = {
        name: replaced(template.name, all, `the name of the Secret for ${use}`),
        namespace: replaced(template.namespace, trusted, `the namespace of the Secret for ${use}`),
      };
      if (!namePattern.test(reference.name) || !namespacePattern.test(reference.namespace))
        throw new Error(
          `"${shortened(reference.namespace)}/${shortened(reference.name)}" is not a Secret for ${use}; correct the class or the claim's annotation`,
        );
      return [use, reference];
    }),
  );
}

/**
 * Replaces each `${variable}`. Templates and values are text of others: it reads the template once, and stops when the result is longer than
 * any name.
 */
function replaced(template: string, variables: ReadonlyMap<string, string>, what: string): string {
  let result = '';
  let at = 0;
  while (at < template.length && result.length <= nameLengthMax) {
    const start = template.indexOf('${', at);
    const end = start < 0 ? -1 : template.indexOf('}', start);
    if (end < 0) return result + template.slice(at);
    const variable = template.slice(start + 2, end);
    const value = variables.get(variable);
    if (value === undefined) throw new Error(`${what} has the unknown variable \${${shortened(variable)}}`);
    result += template.slice(at, start) + value;
    at = end + 1;
  }
  return result;
}

function shortened(text: string): string {
  return text.length <= nameLengthMax ? text : `${text.slice(0, nameLengthMax)}…`;
}
