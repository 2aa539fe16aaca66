import type { Cluster } from '../../../cluster/cluster.ts';
import type { Node } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { nodes } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { usage } from '../../errors/cli-error.ts';

/** The flags of `up` that create simulated nodes. */
export interface SimulatedNodeFlags {
  readonly nodes?: string;
  readonly zones?: string;
}

/** How many simulated nodes `up` creates, and over how many zones it spreads them. */
export interface SimulatedNodes {
  readonly count: number;
  readonly zones: number;
}

/** More nodes than this take minutes to create. */
const countMax = 10_000;
/** The number of nodes that are created at the same time, so that they share a durable write. */
const batchSize = 100;
const resources = { cpu: '8', memory: '32Gi', pods: '110' };

/** Undefined without `--nodes`. */
export function simulatedNodesOf({ nodes: count, zones }: SimulatedNodeFlags): SimulatedNodes | undefined {
  if (count === undefined) {
    if (zones === undefined) return undefined;
    throw usage('--zones: spreads the nodes of --nodes; give their number, such as --nodes 3');
  }
  const parsed = { count: countOf('--nodes', count), zones: countOf('--zones', zones ?? '1') };
  if (parsed.zones <= parsed.count) return parsed;
  throw usage(`--zones: ${zones} zones need at least as many nodes; give --nodes ${zones} or more`);
}

function countOf(flag: string, text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= countMax) return count;
  throw usage(`${flag}: "${text}" must be a number from 1 to ${countMax}`);
}

/** Creates missing nodes and leaves existing ones as they are, so it may run at every start. Resolves with the number of created nodes. */
export async function createSimulatedNodes(
  cluster: Cluster,
  { count, zones }: SimulatedNodes,
  signal: AbortSignal,
): Promise<number> {
  let created = 0;
  for (let first = 1; first <= count && !signal.aborted; first += batchSize) {
    const numbers = Array.from(
      { length: Math.min(batchSize, count - first + 1) },
      (_, index) => first + index,
    );
    const outcomes = await Promise.all(
      numbers.map((number) => isCreated(cluster, simulatedNode(number, zones))),
    );
    created += outcomes.filter(Boolean).length;
  }
  return created;
}

async function isCreated(cluster: Cluster, node: Node): Promise<boolean> {
  try {
    await cluster.resource(nodes).create(node);
    return true;
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/** Nodes take turns over the zones: with two zones, `node-1` and `node-3` are in `zone-1`. */
function simulatedNode(number: number, zones: number): Node {
  const name = `node-${number}`;
  const zone = `zone-${((number - 1) % zones) + 1}`;
  return {
    metadata: { name, labels: { [labels.hostname]: name, [labels.zone]: zone } },
    status: { capacity: resources, allocatable: resources },
  };
}
