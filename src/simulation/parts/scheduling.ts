import { pods } from '../../kube/resources.ts';
import { localClassName, nodeNames } from '../base-cluster.ts';
import { podsKeepTheirNode, podsReachTheirVolumes, runningPodsHaveTheirVolumes } from '../invariants/pods.ts';
import { eventsWakePods, whatFitsIsPlaced } from '../invariants/rest.ts';
import { nodesAreNotOvercommitted } from '../invariants/running-pods.ts';
import type { ActionContext, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { driverClassName } from '../simulated-driver.ts';
import { claimsOf, createPodWithClaims, namespace, podNames } from './pod-objects.ts';

const deletedPodNames = [...podNames, 's0-0', 's0-1', 's1-0', 's1-1'] as const;

/** Pods with and without volumes, and the scheduler that places them. */
export const schedulingPart: SimulationPart = {
  name: 'scheduling',
  processes: [{ name: 'scheduler', controllers: ['scheduler'] }],
  invariants: [
    podsReachTheirVolumes,
    runningPodsHaveTheirVolumes,
    podsKeepTheirNode,
    nodesAreNotOvercommitted,
    whatFitsIsPlaced,
    eventsWakePods,
  ],
  probes: [{ name: 'one pod of every node is deleted', run: deleteOnePodPerNode }],
  actions: [
    {
      name: 'create-pod',
      weight: 14,
      draw: (random) => ({
        pod: random.pick(podNames),
        local: random.int(3),
        pooled: random.int(3),
        hasScratch: random.int(4) === 0,
        gib: 1 + random.int(5),
        cpu: 1 + random.int(3),
        isUrgent: random.int(4) === 0,
      }),
      run: createPod,
    },
    {
      name: 'create-pods',
      weight: 4,
      draw: (random) => ({
        count: 2 + random.int(podNames.length - 1),
        local: random.int(2),
        pooled: random.int(3),
        gib: 3 + random.int(4),
        cpu: 1 + random.int(2),
      }),
      run: createPods,
    },
    {
      name: 'delete-pod',
      weight: 6,
      draw: (random) => ({ pod: random.pick(deletedPodNames), isForced: random.int(4) === 0 }),
      run: async ({ cluster }, { pod, isForced }) => {
        const options = isForced ? { gracePeriodSeconds: 0 } : {};
        await cluster.resource(pods).delete({ namespace, name: String(pod) }, options);
      },
    },
    {
      name: 'create-assigned-pod',
      weight: 1,
      draw: (random) => ({ pod: random.pick(podNames), node: random.pick(nodeNames) }),
      run: async ({ cluster }, { pod, node }) => {
        const spec = { nodeName: String(node), containers: [{ name: 'main', image: 'pause' }] };
        await cluster.resource(pods).create({ metadata: { namespace, name: String(pod) }, spec });
      },
    },
  ],
};

async function deleteOnePodPerNode({ cluster }: ActionContext): Promise<void> {
  const client = cluster.resource(pods);
  const { items } = await client.list({ namespace });
  for (const node of nodeNames) {
    const pod = items.find(
      ({ metadata, spec }) => spec?.nodeName === node && metadata?.ownerReferences === undefined,
    );
    if (pod !== undefined) await client.delete({ namespace, name: pod.metadata?.name ?? '' });
  }
}

/** Pods that compete for the same nodes, volumes and pools. */
async function createPods(context: ActionContext, parameters: ActionParameters): Promise<void> {
  const names = podNames.slice(0, Number(parameters.count));
  await Promise.allSettled(names.map((pod) => createPod(context, { ...parameters, pod })));
}

/** Creates the pod's claims as well; those that exist already are used again. */
async function createPod({ cluster }: ActionContext, parameters: ActionParameters): Promise<void> {
  const name = String(parameters.pod);
  await createPodWithClaims(cluster, {
    name,
    claims: [
      ...claimsOf(`${name}-l`, Number(parameters.local), localClassName),
      ...claimsOf(`${name}-d`, Number(parameters.pooled), driverClassName),
    ],
    gib: Number(parameters.gib),
    cpu: Number(parameters.cpu),
    isUrgent: parameters.isUrgent === true,
    scratchClassName: parameters.hasScratch === true ? driverClassName : undefined,
  });
}
