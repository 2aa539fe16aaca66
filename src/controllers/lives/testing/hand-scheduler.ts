import { isReason } from '../../../cluster/api-error.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { persistentVolumeClaims, pods } from '../../../cluster/resources.ts';
import type { Pod } from '../../../kube/core-pod.ts';
import type { PersistentVolumeClaim } from '../../../kube/core-volume.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Controller } from '../../controller.ts';
import { orAbsent } from '../../or-absent.ts';
import { claimKeysOf } from '../../workloads/node-agent/pod-places.ts';

/** How long it rests between two looks at everything, in virtual time. */
const restMs = 50;

/**
 * What a scheduler writes, without its choice: every pod goes to this node. Its claims get it as their selected node, and once they
 * are bound the pod does. It looks at everything anew each time, so that it can die anywhere.
 */
export function handScheduler(node: string): Controller {
  return {
    name: 'hand-scheduler',
    async run({ cluster, clock }, signal) {
      while (!signal.aborted) {
        const { items } = await cluster.resource(pods).list({ signal });
        for (const pod of items) if (isWaiting(pod)) await schedule(cluster, pod, node);
        await clock.sleep(restMs, signal);
      }
    },
  };
}

function isWaiting({ metadata, spec }: Pod): boolean {
  return (spec?.nodeName ?? '') === '' && metadata?.deletionTimestamp === undefined;
}

async function schedule(cluster: Cluster, pod: Pod, node: string): Promise<void> {
  const client = cluster.resource(persistentVolumeClaims);
  let isReady = true;
  try {
    for (const key of claimKeysOf(pod)) {
      const [namespace = '', name = ''] = key.split('/');
      const claim = await orAbsent(client.get({ namespace, name }));
      if (claim?.status?.phase === 'Bound') continue;
      isReady = false;
      if (claim !== undefined) await selectNode(cluster, claim, node);
    }
    const { namespace, name = '' } = pod.metadata ?? {};
    const binding = {
      metadata: { ...(namespace !== undefined && { namespace }), name },
      target: { kind: 'Node', name: node },
    };
    if (isReady) await cluster.resource(pods).post({ namespace, name }, 'binding', binding);
  } catch (error) {
    // Somebody else wrote first; the next look sees it.
    if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
  }
}

async function selectNode(cluster: Cluster, claim: PersistentVolumeClaim, node: string): Promise<void> {
  const { namespace, name = '', uid, resourceVersion, annotations: present } = claim.metadata ?? {};
  if (present?.[annotations.selectedNode] !== undefined) return;
  const body = { metadata: { uid, resourceVersion, annotations: { [annotations.selectedNode]: node } } };
  await cluster.resource(persistentVolumeClaims).patch({ namespace, name }, { type: 'merge', body });
}
