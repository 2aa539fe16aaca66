import { apiVersionOf, type Resource } from '../../../../src/kube/resource.ts';
import { configMaps, deployments, statefulSets } from '../../../../src/kube/resources.ts';
import type { UserAction, UserScenario } from '../scenario-runner.ts';
import { all, change, podTemplate, refusalOf, remove, withReplicas } from './actions.ts';

/** Server-side apply while controllers write to the same objects. */
export const applyUserScenarios: readonly UserScenario[] = [
  {
    name: 'applied',
    actions: {
      'by one manager': all(
        apply(deployments, 'web', { spec: { replicas: 2, ...workload('web', 'v1') } }, 'one'),
        apply(
          statefulSets,
          'db',
          { spec: { replicas: 2, serviceName: 'db', ...workload('db', 'v1') } },
          'one',
        ),
        apply(configMaps, 'settings', { data: { a: '1', b: '2' } }, 'one'),
      ),
      'with conflicts': all(
        apply(deployments, 'web', { spec: { replicas: 3 } }, 'two'),
        apply(statefulSets, 'db', { spec: { replicas: 3 } }, 'two'),
        apply(configMaps, 'settings', { data: { b: '3' } }, 'two'),
      ),
      'with force': all(
        apply(deployments, 'web', { spec: { replicas: 3 } }, 'two', true),
        apply(statefulSets, 'db', { spec: { replicas: 1 } }, 'two', true),
        apply(configMaps, 'settings', { data: { b: '3' } }, 'two', true),
      ),
      'fields that are left out are removed, unless another manager owns them': all(
        apply(deployments, 'web', { spec: workload('web', 'v2') }, 'one'),
        apply(configMaps, 'settings', { data: { c: '4' } }, 'one'),
      ),
      'changed by other managers': all(
        change(deployments, 'web', withReplicas(1)),
        apply(deployments, 'web', { spec: { replicas: 2 } }, 'two'),
      ),
      deleted: all(
        remove(deployments, 'web', 'Foreground'),
        remove(statefulSets, 'db', 'Background'),
        remove(configMaps, 'settings'),
      ),
    },
  },
];

function workload(app: string, image: string) {
  return { selector: { matchLabels: { app } }, template: podTemplate(app, image) };
}

function apply(
  resource: Resource,
  name: string,
  object: object,
  fieldManager: string,
  force = false,
): UserAction {
  return async ({ cluster, namespace }) => {
    const { kind } = resource;
    const body = { apiVersion: apiVersionOf(resource), kind, metadata: { name, namespace }, ...object };
    const options = { fieldManager, force };
    return await refusalOf(
      cluster.resource(resource).patch({ namespace, name }, { type: 'apply', body }, options),
    );
  };
}
