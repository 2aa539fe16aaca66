import { mergePatch } from '../placeholders.ts';
import { patch, post, put, type Scenario, type Step, scenario } from '../scenario.ts';

/** Variations of an object that is valid; each is sent to be created, and none is kept. */
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
  /** Merge patches that make it what it is before the changes, through its status. */
  readonly status?: object;
  readonly subresource?: string;
  /** Merge patches of the stored object, or JSON patches. */
  readonly changes: readonly (object | readonly object[])[];
}

/** Creates an object and sends changes of it; none is kept. */
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
