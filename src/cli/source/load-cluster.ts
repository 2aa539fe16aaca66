import type { Cluster } from '../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import type { Event } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { coreEvents } from '../../kube/resources.ts';
import type { Log } from '../../runtime/log.ts';
import { listCluster } from '../../state/list-cluster.ts';
import { type ConnectFlags, connect } from '../connect.ts';
import { type Asked, serverError } from '../server-error.ts';
import type { ClusterView, Target } from './cluster-view.ts';
import { unseenNotes } from './unseen-notes.ts';

/** One object, or all if there is no name. Without the right to list all namespaces, only `namespace` is read. */
type About = Pick<Target, 'namespace'> & { readonly name?: string };

/** The time limit for an answer. */
const requestTimeoutMs = 30_000;

/** The remedy for commands that can also read files. */
export async function connectToRead(flags: ConnectFlags, log: Log): Promise<KubernetesCluster> {
  return await connect(flags, { rateLimit: false, requestTimeoutMs, instead: 'read files with --from', log });
}

/** Reads everything that the caller may list. Errors of the server become messages that name it, by `server` and `source`. */
export async function loadCluster(
  cluster: Cluster,
  target: About,
  options: Asked & { readonly onProgress: (text: string) => void },
): Promise<ClusterView> {
  const { namespace } = target;
  const { server, onProgress } = options;
  try {
    const [{ snapshot, unlisted: unseen }, events] = await Promise.all([
      listCluster(cluster, {
        namespace,
        onProgress: (objects) => onProgress(`reading ${server}: ${objects} objects`),
      }),
      eventsAbout(cluster, target),
    ]);
    return {
      snapshot,
      events,
      notes: unseenNotes(unseen),
      unseen,
      seesNodes: !unseen.some(({ kind }) => kind === 'Node'),
    };
  } catch (error) {
    throw serverError(error, options);
  }
}

/** Events only add to the answer, so a missing right is no error. */
async function eventsAbout(cluster: Cluster, { namespace, name }: About): Promise<readonly Event[]> {
  if (name === undefined) return [];
  try {
    const fieldSelector = `involvedObject.name=${name}`;
    const { items } = await cluster.resource(coreEvents).list({ namespace, fieldSelector, limit: 100 });
    return items;
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound', 'BadRequest')) return [];
    throw error;
  }
}
