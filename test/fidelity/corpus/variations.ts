import { mergePatch } from '../placeholders.ts';
import { patch, post, put, type Scenario, type Step, scenario } from '../scenario.ts';

/** Variations of a valid object; each is sent as a dry run of a creation. */
export function creations(
  name: string,
  collection: string,
  valid: object,
  variations: readonly object[],
): Scenario {
  return scenario(name, creationSteps(collection, valid, variations));
}

function creationSteps(collection: string, valid: object, variations: readonly object[]): readonly Step[] {
  return variations.map((variation) => post(`${collection}?dryRun=All`, mergePatch(valid, variation)));
}

export interface Changes {
  readonly name: string;
  readonly collection: string;
  readonly object: { readonly metadata: { readonly name: string } };
  /** Merge patch of the status that prepares the object for the changes. */
  readonly status?: object;
  readonly subresource?: string;
  /** Merge patches or JSON patches of the stored object. */
  readonly changes: readonly (object | readonly object[])[];
}

/** Creates an object and sends changes to it as dry runs. */
export function changes({ name, collection, object, status, subresource, changes: all }: Changes): Scenario {
  const path = `${collection}/${object.metadata.name}`;
  const target = subresource === undefined ? path : `${path}/${subresource}`;
  const prepared =
    status === undefined ? [] : [patch('merge', `${path}/status`, { status }, { as: 'object' })];
  return scenario(
    name,
    post(collection, object, { as: 'object', form: 'metadata' }),
    prepared,
    all.map((change) =>
      Array.isArray(change)
        ? patch('json', `${target}?dryRun=All`, change)
        : put(`${target}?dryRun=All`, change, { from: 'object' }),
    ),
  );
}
