import type { Cluster } from '../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { Event } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { emulatedVersion } from '../../kube/emulated-version.ts';
import { publisherLeaseSelection } from '../../kube/publisher-heartbeat.ts';
import { coreEvents, leases } from '../../kube/resources.ts';
import { textOf } from '../../kube/wire.ts';
import { claimKeys } from '../../queries/view/claim-keys.ts';
import type { ClusterView, Target } from '../../queries/view/cluster-view.ts';
import { readDiskView } from '../../queries/view/disk-view.ts';
import { announcements, listPolicies } from '../../queries/view/read-others.ts';
import { limitsOf } from '../../queries/view/unseen-notes.ts';
import type { Log } from '../../runtime/log.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { type ListedCluster, listCluster } from '../../state/list-cluster.ts';
import { type AskedServer, serverError } from '../errors/server-error.ts';
import { type ConnectFlags, connect } from './connect.ts';

/** One object, or all if there is no name. Without the right to list all namespaces, only `namespace` is read. */
type About = Pick<Target, 'namespace'> & { readonly name?: string };

/** The time limit for an answer. */
const requestTimeoutMs = 30_000;

/** The remedy for commands that can also read files. */
export async function connectToRead(flags: ConnectFlags, log: Log): Promise<KubernetesCluster> {
  return await connect(flags, { rateLimit: false, requestTimeoutMs, instead: 'read files with --from', log });
}

export interface LoadClusterOptions extends AskedServer {
  readonly onProgress: (text: string) => void;
  /** The `gitVersion` of the server. */
  readonly serverVersion?: (() => Promise<string>) | undefined;
  /** Reads PriorityClasses and PodDisruptionBudgets too. */
  readonly needsPolicies?: boolean;
  /** Where the objects come from, if not from lists of the cluster. */
  readonly list?: (() => Promise<ListedCluster>) | undefined;
}

/** Reads everything that the caller may list. Errors of the server become messages that name it, by `server` and `source`. */
export async function loadCluster(
  cluster: Cluster,
  target: About,
  options: LoadClusterOptions,
): Promise<ClusterView> {
  const { namespace } = target;
  const { server, onProgress } = options;
  try {
    const [{ snapshot, unlisted: unseen }, events, announced] = await Promise.all([
      options.list?.() ??
        listCluster(cluster, {
          namespace,
          onProgress: (objects) => onProgress(`reading ${server}: ${objects} objects`),
        }),
      eventsAbout(cluster, target),
      announcements(cluster),
    ]);
    for (const lease of await publisherLeases(cluster)) snapshot.addLease(lease);
    return {
      snapshot,
      events: [...events, ...(await claimEvents(cluster, snapshot, target))],
      leases: announced,
      disks: await readDiskView(cluster, snapshot),
      ...(options.needsPolicies === true && (await listPolicies(cluster))),
      isEmbedded: announced === undefined && (await isEmbedded(options)),
      ...limitsOf(unseen),
    };
  } catch (error) {
    throw serverError(error, options);
  }
}

/** The Leases by which the publishers of capacity show that they run. Without the permission to list them, that is unknown. */
async function publisherLeases(cluster: Cluster): Promise<readonly Lease[]> {
  try {
    return (await cluster.resource(leases).list(publisherLeaseSelection)).items;
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound')) return [];
    throw error;
  }
}

async function isEmbedded({ serverVersion }: LoadClusterOptions): Promise<boolean> {
  return (await serverVersion?.()) === emulatedVersion;
}

/** More claims than this rarely wait at the same time, and each costs a request. */
const claimsWithEventsMax = 10;

/** The events of the unbound claims of a pod: they have the errors of provisioners. */
async function claimEvents(
  cluster: Cluster,
  snapshot: ClusterSnapshot,
  { namespace, name }: About,
): Promise<readonly Event[]> {
  const pod = name === undefined ? undefined : snapshot.get('Pod', `${namespace}/${name}`);
  if (pod === undefined) return [];
  const unbound = claimKeys(pod)
    .flatMap((key) => snapshot.get('PersistentVolumeClaim', key) ?? [])
    .filter(({ metadata, spec }) => textOf(spec?.volumeName) === '' && metadata?.name !== name)
    .slice(0, claimsWithEventsMax);
  const lists = unbound.map(({ metadata }) => {
    return eventsAbout(cluster, { namespace, name: textOf(metadata?.name) });
  });
  return (await Promise.all(lists)).flat();
}

/** Events only add to the answer, so a missing permission is not an error. */
async function eventsAbout(cluster: Cluster, { namespace, name }: About): Promise<readonly Event[]> {
  if (name === undefined) return [];
  const fieldSelector = `involvedObject.name=${name}`;
  return await readable(cluster.resource(coreEvents).list({ namespace, fieldSelector, limit: 100 }));
}

/** The items of a list; none if the caller may not read it, or the server does not have the kind. */
async function readable<T>(list: Promise<{ readonly items: readonly T[] }>): Promise<readonly T[]> {
  try {
    return (await list).items;
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound', 'BadRequest')) return [];
    throw error;
  }
}
