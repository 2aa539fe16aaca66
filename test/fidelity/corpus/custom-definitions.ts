import { get, post, type Step } from '../scenario.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface Defined {
  /** Unique to each scenario, so that no scenario sees the kinds of another. */
  readonly group: string;
  readonly schema?: object;
  /** Fields that override those of the only version. */
  readonly version?: object;
  /** Replaces the only version. */
  readonly versions?: readonly object[];
  readonly names?: object;
  readonly scope?: 'Cluster' | 'Namespaced';
}

export function definition({ group, schema, version, versions, names, scope = 'Namespaced' }: Defined) {
  const one = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope,
      names: { plural: 'widgets', kind: 'Widget', ...names },
      versions: versions ?? [one],
    },
  };
}

/** Creates a definition and waits until its kind is served. */
export function define(defined: Defined): readonly Step[] {
  return [
    post(definitions, definition(defined), { form: 'metadata', as: 'definition' }),
    get(`${definitions}/widgets.${defined.group}`, { until: 'InitialNamesAccepted', as: 'definition' }),
    // The real server publishes the kind in the background.
    get(`/apis/${defined.group}/v1`, { until: '"widgets"', form: 'keys' }),
  ];
}

export function widgets(group: string, version = 'v1'): string {
  return `/apis/${group}/${version}/namespaces/{{ns}}/widgets`;
}

export function widget(group: string, spec: unknown, version = 'v1') {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name: 'w' }, spec };
}
