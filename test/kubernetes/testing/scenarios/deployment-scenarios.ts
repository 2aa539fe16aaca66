import type { Deployment, DeploymentSpec } from '../../../../src/kube/api/apps.ts';
import { deployments, pods, replicaSets } from '../../../../src/kube/resources.ts';
import type { UserScenario } from '../scenario-runner.ts';
import {
  all,
  change,
  create,
  failOne,
  podTemplate,
  rankByCost,
  remove,
  restrict,
  untilReady,
  withImage,
  withReplicas,
} from './actions.ts';

export const deploymentScenarios: readonly UserScenario[] = [
  {
    name: 'deployment-scaling',
    actions: {
      created: create(deployments, deploymentOf('web', { replicas: 3 })),
      'scaled up': change(deployments, 'web', withReplicas(4)),
      'scaled down': change(deployments, 'web', withReplicas(2)),
      'another annotation': change(deployments, 'web', { metadata: { annotations: { team: 'blue' } } }),
    },
  },
  {
    name: 'deployment-rolling',
    actions: {
      created: create(deployments, deploymentOf('web', { replicas: 2 })),
      'another image': change(deployments, 'web', withImage('v2')),
      'the previous image': change(deployments, 'web', withImage('v1')),
      'history beyond the limit': change(deployments, 'web', { spec: { revisionHistoryLimit: 0 } }),
    },
  },
  {
    name: 'deployment-recreate',
    actions: {
      created: create(deployments, deploymentOf('web', { replicas: 2, strategy: { type: 'Recreate' } })),
      'another image': change(deployments, 'web', withImage('v2')),
      'scaled to zero': change(deployments, 'web', withReplicas(0)),
      deleted: remove(deployments, 'web', 'Foreground'),
    },
  },
  {
    name: 'deployment-paused',
    actions: {
      created: create(deployments, deploymentOf('web', { replicas: 2 })),
      'paused with another image': change(deployments, 'web', {
        spec: { paused: true, ...specOf(withImage('v2')) },
      }),
      'scaled while paused': change(deployments, 'web', withReplicas(3)),
      resumed: change(deployments, 'web', { spec: { paused: false } }),
      orphaned: remove(deployments, 'web', 'Orphan'),
      'adopted again': create(deployments, deploymentOf('web', { replicas: 3 }, 'v2')),
    },
  },
  {
    name: 'deployment-stuck',
    isStuck: true,
    actions: {
      'pods that fit nowhere': create(deployments, stuck('web', { progressDeadlineSeconds: 1 })),
      'scaled to zero': change(deployments, 'web', withReplicas(0)),
    },
  },
  {
    name: 'deployment-half-way',
    isStuck: true,
    actions: {
      created: all(
        create(
          deployments,
          deploymentOf('web', {
            replicas: 4,
            strategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: '25%' } },
          }),
        ),
        untilReady(deployments, 'web'),
      ),
      'an update that gets stuck': change(deployments, 'web', {
        spec: {
          template: { spec: { nodeSelector: { on: 'mars' }, containers: [{ name: 'main', image: 'v2' }] } },
        },
      }),
      'scaled in proportion': change(deployments, 'web', withReplicas(8)),
      'scaled down': change(deployments, 'web', withReplicas(3)),
    },
  },
  {
    name: 'deployment-refused',
    isStuck: true,
    needsPodSecurity: true,
    actions: {
      'pods are rejected': all(
        restrict('restricted'),
        create(deployments, deploymentOf('web', { replicas: 2 })),
      ),
      allowed: all(
        restrict('privileged'),
        change(deployments, 'web', { metadata: { annotations: { note: 'try again' } } }),
        untilReady(deployments, 'web'),
      ),
    },
  },
  {
    name: 'deployment-slow',
    actions: {
      created: create(
        deployments,
        deploymentOf('web', {
          replicas: 2,
          minReadySeconds: 2,
          strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
        }),
      ),
      'another image': change(deployments, 'web', withImage('v2')),
    },
  },
  {
    name: 'failed-pods',
    actions: {
      created: create(deployments, deploymentOf('web', { replicas: 2 })),
      'one fails': failOne('web'),
      'scaled down': change(deployments, 'web', withReplicas(1)),
    },
  },
  {
    name: 'deletion-cost',
    actions: {
      created: all(create(deployments, deploymentOf('web', { replicas: 3 })), untilReady(deployments, 'web')),
      ranked: rankByCost('web'),
      'the cheapest pod is removed': change(deployments, 'web', withReplicas(2)),
      'the next pod is removed': change(deployments, 'web', withReplicas(1)),
    },
  },
  {
    name: 'replica-set',
    actions: {
      'adopts a pod': all(
        create(pods, {
          metadata: { name: 'stray', labels: { app: 'web' } },
          spec: podTemplate('web', 'v1').spec ?? {},
        }),
        create(replicaSets, {
          metadata: { name: 'web' },
          spec: {
            replicas: 2,
            selector: { matchLabels: { app: 'web' } },
            template: podTemplate('web', 'v1'),
          },
        }),
      ),
      'releases a pod': change(pods, 'stray', { metadata: { labels: { app: 'other' } } }),
      'scaled down': change(replicaSets, 'web', withReplicas(1)),
      orphaned: remove(replicaSets, 'web', 'Orphan'),
    },
  },
];

function deploymentOf(name: string, spec: DeploymentSpec, image = 'v1'): Deployment {
  return {
    metadata: { name, labels: { app: name }, annotations: { note: 'handed down' } },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name, image), ...spec },
  };
}

function stuck(name: string, spec: DeploymentSpec): Deployment {
  const { spec: pod, ...template } = podTemplate(name, 'v1');
  return deploymentOf(name, {
    ...spec,
    template: { ...template, spec: { ...pod, nodeSelector: { on: 'mars' } } },
  });
}

function specOf(patch: object): object {
  return (patch as { readonly spec: object }).spec;
}
