import type { Cluster } from '../../cluster/cluster.ts';
import type { Node } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { nodes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { cordonedForDrive, moveCordonKey } from '../../queries/drain/move-cordon.ts';
import { CliError } from '../errors/cli-error.ts';

/** How often a change is decided again after another client changed the node at the same time; a kubelet writes its node often. */
const attemptsMax = 8;

/** Cordons a node; false if it is cordoned already. */
export async function cordonNode(cluster: Cluster, name: string): Promise<boolean> {
  return await editNode(cluster, name, ({ spec }) =>
    spec?.unschedulable === true ? undefined : { spec: { unschedulable: true } },
  );
}

/** Cordons the node of a drive, with the mark that the move of this drive did it; a cordon of a person gets no mark. */
export async function cordonForDrive(cluster: Cluster, name: string, drive: string): Promise<boolean> {
  return await editNode(cluster, name, (node) => {
    const other = cordonedForDrive(node);
    if (other !== undefined && other !== drive)
      throw new CliError(
        `node ${name} is cordoned for the move of drive ${other}; complete that first with stowage move drive/${other}`,
      );
    if (node.spec?.unschedulable === true) return undefined;
    return { metadata: { annotations: { [moveCordonKey]: drive } }, spec: { unschedulable: true } };
  });
}

/** Takes the cordon back that the move of this drive has made; false if it has made none. */
export async function uncordonForDrive(cluster: Cluster, name: string, drive: string): Promise<boolean> {
  // A Node that was deleted has taken its cordon along.
  if ((await undefinedIfNotFound(cluster.resource(nodes).get({ name }))) === undefined) return false;
  return await editNode(cluster, name, (node) =>
    cordonedForDrive(node) === drive
      ? { metadata: { annotations: { [moveCordonKey]: null } }, spec: { unschedulable: null } }
      : undefined,
  );
}

/** One versioned write; `decide` is called again after a conflict. */
async function editNode(
  cluster: Cluster,
  name: string,
  decide: (node: Node) => object | undefined,
): Promise<boolean> {
  const client = cluster.resource(nodes);
  for (let attempt = 1; ; attempt += 1) {
    const node = await undefinedIfNotFound(client.get({ name }));
    if (node === undefined)
      throw new CliError(`there is no node ${name}; kubectl get nodes lists those there are`);
    const change = decide(node);
    if (change === undefined) return false;
    try {
      await client.patch({ name }, { type: 'merge', body: withPreconditions(node, change) });
      return true;
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
      if (attempt === attemptsMax)
        throw new CliError(`node ${name} keeps changing; call the command again`, 1, { cause: error });
    }
  }
}
