import { setTimeout as sleep } from 'node:timers/promises';
import type { DeletionPropagation, OwnerReference } from '../../../../src/kube/api/meta.ts';
import {
  configMaps,
  deployments,
  namespaces,
  podDisruptionBudgets,
  statefulSets,
} from '../../../../src/kube/resources.ts';
import type { ScenarioContext, UserAction, UserScenario } from '../scenario-runner.ts';
import { all, change, create, podTemplate, remove } from './actions.ts';

const pollMs = 300;
const policies: readonly DeletionPropagation[] = ['Background', 'Foreground', 'Orphan'];

const removeNamespace: UserAction = async (context) => await remove(namespaces, context.namespace)(context);

/** Waits without a limit of its own; the test's timeout applies. */
const untilGone: UserAction = async ({ cluster, namespace }) => {
  const isThere = async () => {
    const { items } = await cluster.resource(namespaces).list();
    return items.some(({ metadata }) => metadata?.name === namespace);
  };
  while (await isThere()) await sleep(pollMs);
};

export const deletionUserScenarios: readonly UserScenario[] = [
  {
    name: 'owners',
    actions: {
      created: all(...policies.map((policy) => workload(policy.toLowerCase()))),
      'deleted with each propagation policy': all(
        ...policies.flatMap((policy) => [
          remove(deployments, policy.toLowerCase(), policy),
          remove(configMaps, policy.toLowerCase(), policy),
        ]),
      ),
    },
  },
  {
    name: 'odd-owners',
    isStuck: true,
    actions: {
      created: all(
        ...['circle', 'held', 'misnamed'].map((name) => create(configMaps, { metadata: { name } })),
        owned('circle-back', 'circle'),
        adopt('circle', 'circle-back'),
        owned('holding', 'held'),
        change(configMaps, 'holding', { metadata: { finalizers: ['example.com/hold'] } }),
      ),
      'absent owners': all(
        stray('of-absent', { name: 'absent' }),
        stray('of-another-uid', { name: 'misnamed' }),
        stray('of-another-kind', { name: 'misnamed', kind: 'Secret' }),
        stray('of-no-kind', { name: 'misnamed', kind: 'Fancy', apiVersion: 'example.com/v1' }),
      ),
      'deleted in the foreground': all(
        remove(configMaps, 'circle', 'Foreground'),
        remove(configMaps, 'held', 'Foreground'),
      ),
      'finalizers removed': change(configMaps, 'holding', { metadata: { finalizers: null } }),
    },
  },
  {
    name: 'namespace-goes',
    actions: {
      filled: all(workload('web'), statefulSet('db')),
      deleted: all(removeNamespace, untilGone),
    },
  },
  {
    name: 'namespace-stays',
    isStuck: true,
    actions: {
      'an object with a finalizer': all(
        workload('web'),
        create(configMaps, { metadata: { name: 'held', finalizers: ['example.com/hold'] } }),
      ),
      deleted: removeNamespace,
      'finalizers removed': all(change(configMaps, 'held', { metadata: { finalizers: null } }), untilGone),
    },
  },
];

/** A deployment, and three generations of config maps; the last one has a second owner. */
function workload(name: string): UserAction {
  return all(
    create(podDisruptionBudgets, { metadata: { name }, spec: { minAvailable: 1 } }),
    create(deployments, {
      metadata: { name },
      spec: { replicas: 2, selector: { matchLabels: { app: name } }, template: podTemplate(name, 'v1') },
    }),
    create(configMaps, { metadata: { name } }),
    create(configMaps, { metadata: { name: `${name}-other` } }),
    owned(`${name}-child`, name),
    owned(`${name}-grandchild`, `${name}-child`),
    owned(`${name}-of-both`, name, `${name}-other`),
  );
}

function statefulSet(name: string): UserAction {
  return create(statefulSets, {
    metadata: { name },
    spec: {
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, 'v1'),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'disk',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
    },
  });
}

function owned(name: string, ...owners: readonly string[]): UserAction {
  return async (context) => {
    const ownerReferences = await referencesTo(context, owners);
    await create(configMaps, { metadata: { name, ownerReferences } })(context);
  };
}

/** Adds owners to an existing config map. */
function adopt(name: string, ...owners: readonly string[]): UserAction {
  return async (context) => {
    const ownerReferences = await referencesTo(context, owners);
    await change(configMaps, name, { metadata: { ownerReferences } })(context);
  };
}

function stray(name: string, owner: Partial<OwnerReference>): UserAction {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: '', uid: 'no-such-uid', ...owner };
  return create(configMaps, { metadata: { name, ownerReferences: [reference] } });
}

async function referencesTo(
  { cluster, namespace }: ScenarioContext,
  owners: readonly string[],
): Promise<readonly OwnerReference[]> {
  const found = await Promise.all(
    owners.map((owner) => cluster.resource(configMaps).get({ namespace, name: owner })),
  );
  return found.map(({ metadata }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    blockOwnerDeletion: true,
  }));
}
