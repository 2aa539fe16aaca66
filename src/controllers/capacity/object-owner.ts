import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/meta.ts';
import { controllerOf } from '../../kube/owner-references.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { pods } from '../../kube/resources.ts';

export interface ObjectOwnerOptions {
  readonly cluster: Cluster;
  readonly resources: readonly Resource[];
  readonly namespace: string;
  readonly podName: string;
  /** 0: the pod; 1: its controller, such as a StatefulSet or DaemonSet; 2: the controller of that, such as a Deployment. */
  readonly level: number;
}

/** Finds the owner of published objects, starting with the pod of this process: the objects are deleted with it. */
export async function findObjectOwner(
  { cluster, resources, namespace, podName, level }: ObjectOwnerOptions,
  signal: AbortSignal,
): Promise<OwnerReference> {
  const pod = await cluster.resource(pods).get({ namespace, name: podName }, { signal });
  let reference = referenceOf(pod, pods);
  let object: KubeObject = pod;
  for (let above = 1; above <= level; above += 1) {
    const controller = controllerOf(object);
    if (controller === undefined)
      throw new Error(
        `${reference.kind} ${namespace}/${reference.name} has no controller; --capacity-ownerref-level must be at most ${above - 1}`,
      );
    const { apiVersion = '', kind = '', name = '', uid = '' } = controller;
    reference = { apiVersion, kind, name, uid, controller: true };
    if (above < level) object = await readOwner({ cluster, resources, namespace }, reference, signal);
  }
  return reference;
}

function referenceOf({ metadata }: KubeObject, resource: Resource): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid, controller: true };
}

async function readOwner(
  { cluster, resources, namespace }: Pick<ObjectOwnerOptions, 'cluster' | 'resources' | 'namespace'>,
  { apiVersion, kind, name = '' }: OwnerReference,
  signal: AbortSignal,
): Promise<KubeObject> {
  const resource = resources.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  if (resource === undefined) throw new Error(`the cluster does not serve ${apiVersion} ${kind}`);
  return await cluster.resource(resource).get({ namespace, name }, { signal });
}
