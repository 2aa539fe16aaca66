import { deployments, statefulSets } from '../../kube/resources.ts';
import { localClassName } from '../base-cluster.ts';
import { claimsInUseStay, runningPodsHaveMarkedClaims } from '../invariants/running-pods.ts';
import {
  deletedPodsGoAway,
  dependentsEndWithTheirOwner,
  setsHaveTheirPods,
  setsKeepTheirClaims,
} from '../invariants/workloads.ts';
import type { SimulationPart } from '../part.ts';
import { driverClassName } from '../simulated-driver.ts';
import { namespace } from './pod-objects.ts';

const setNames = ['s0', 's1'] as const;
const deploymentNames = ['d0', 'd1'] as const;

/** StatefulSets with claims of their own, Deployments, and the simulated kubelets. */
export const workloadsPart: SimulationPart = {
  name: 'workloads',
  processes: [
    {
      name: 'workloads',
      controllers: [
        'statefulset',
        'deployment',
        'node-agent',
        'garbage-collector',
        'namespace',
        'serviceaccount',
        'disruption',
      ],
      knowsDriver: true,
    },
  ],
  invariants: [
    setsHaveTheirPods,
    setsKeepTheirClaims,
    dependentsEndWithTheirOwner,
    deletedPodsGoAway,
    runningPodsHaveMarkedClaims,
    claimsInUseStay,
  ],
  actions: [
    {
      name: 'create-set',
      weight: 2,
      draw: (random) => ({
        set: random.pick(setNames),
        replicas: 1 + random.int(3),
        gib: 1 + random.int(4),
        class: random.pick([localClassName, driverClassName]),
      }),
      run: async ({ cluster }, { set, replicas, gib, class: storageClassName }) => {
        const matchLabels = { app: String(set) };
        await cluster.resource(statefulSets).create({
          metadata: { namespace, name: String(set) },
          spec: {
            replicas: Number(replicas),
            serviceName: String(set),
            selector: { matchLabels },
            template: {
              metadata: { labels: matchLabels },
              spec: {
                terminationGracePeriodSeconds: 1,
                containers: [{ name: 'main', image: 'pause' }],
              },
            },
            volumeClaimTemplates: [
              {
                metadata: { name: 'data' },
                spec: {
                  accessModes: ['ReadWriteOnce'],
                  storageClassName: String(storageClassName),
                  resources: { requests: { storage: `${gib}Gi` } },
                },
              },
            ],
          },
        });
      },
    },
    {
      name: 'scale-set',
      weight: 3,
      draw: (random) => ({ set: random.pick(setNames), replicas: random.int(4) }),
      run: async ({ cluster }, { set, replicas }) => {
        const body = { spec: { replicas } };
        await cluster.resource(statefulSets).patch({ namespace, name: String(set) }, { type: 'merge', body });
      },
    },
    {
      name: 'create-deployment',
      weight: 1,
      draw: (random) => ({ deployment: random.pick(deploymentNames), replicas: random.int(4) }),
      run: async ({ cluster }, { deployment, replicas }) => {
        const matchLabels = { app: String(deployment) };
        const containers = [{ name: 'main', image: 'pause' }];
        await cluster.resource(deployments).create({
          metadata: { namespace, name: String(deployment) },
          spec: {
            replicas: Number(replicas),
            // Short, so that the condition about it is written before the system has to be at rest.
            progressDeadlineSeconds: 60,
            selector: { matchLabels },
            template: { metadata: { labels: matchLabels }, spec: { containers } },
          },
        });
      },
    },
    {
      name: 'roll-deployment',
      weight: 1,
      draw: (random) => ({
        deployment: random.pick(deploymentNames),
        image: `pause:${random.int(4)}`,
        replicas: random.int(4),
      }),
      run: async ({ cluster }, { deployment, image, replicas }) => {
        const containers = [{ name: 'main', image }];
        const body = { spec: { replicas, template: { spec: { containers } } } };
        await cluster
          .resource(deployments)
          .patch({ namespace, name: String(deployment) }, { type: 'strategic', body });
      },
    },
    {
      name: 'delete-set',
      weight: 1,
      draw: (random) => ({ set: random.pick(setNames) }),
      run: async ({ cluster }, { set }) =>
        void (await cluster.resource(statefulSets).delete({ namespace, name: String(set) })),
    },
  ],
};
