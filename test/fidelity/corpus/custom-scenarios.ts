import { patch, post, type Scenario, type Step, scenario } from '../scenario.ts';
import { type Defined, define, definitions, widget, widgets } from './custom-definitions.ts';

/** Tries to create an object for each spec, by dry runs, in a kind with one schema. */
export function specs(name: string, group: string, spec: object, values: readonly unknown[]): Scenario {
  return scenario(
    name,
    define(ofSpec(group, spec)),
    values.map((value) => attempt(group, value)),
  );
}

function ofSpec(group: string, spec: object): Defined {
  return { group, schema: { type: 'object', properties: { spec, status: { type: 'object' } } } };
}

function attempt(group: string, value: unknown): Step {
  return post(`${widgets(group)}?dryRun=All`, widget(group, value));
}

interface ObjectUpdates {
  readonly name: string;
  readonly group: string;
  readonly spec: object;
  readonly first: unknown;
  /** Replaces the schema of the spec after the first object was stored. */
  readonly tightened?: object;
  /** Merge patches of the spec, sent as dry runs. */
  readonly changes: readonly unknown[];
}

/** Creates an object, optionally makes the schema stricter, and then updates the object by dry runs. */
export function objectUpdates({ name, group, spec, first, tightened, changes }: ObjectUpdates): Scenario {
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
  const steps = [
    define(ofSpec(group, spec)),
    post(widgets(group), widget(group, first)),
    ...(tightened === undefined
      ? []
      : [
          patch('json', `${definitions}/widgets.${group}`, [{ op: 'replace', path, value: tightened }], {
            form: 'metadata',
          }),
        ]),
    changes.map((value, index) =>
      patch('merge', `${widgets(group)}/w?dryRun=All`, { spec: value }, { settle: index === 0 }),
    ),
  ];
  return scenario(name, ...steps);
}

export const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
