import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { ownDefinitions } from '../../embedded/own-definitions.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError, isReason } from '../../kube/api-error.ts';
import type { ListOptions } from '../../kube/api-requests.ts';
import { emulatedVersion } from '../../kube/emulated-version.ts';
import { qualifiedPlural, type Resource } from '../../kube/resource.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  customResourceDefinitions,
  driverCapacities,
  events,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  serviceAccounts,
  storageClasses,
} from '../../kube/resources.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import type { ClusterFacts, Fact, FactLists, ServerClock } from '../../queries/doctor/facts.ts';
import { factItems } from '../../queries/doctor/facts.ts';
import type { Clock } from '../../runtime/clock.ts';
import { componentRights } from './component-rights.ts';
import { missingAccountRights, missingCallerRights } from './review-rights.ts';

const pageSize = 500;
/** The Date of an answer is in whole seconds. */
const dateResolutionMs = 1_000;

export interface ReadFactsOptions {
  readonly clock: Clock;
  readonly onProgress: (text: string) => void;
}

/** Reads everything that the caller may read. Rejects only if the server does not answer, or does not accept the credentials. */
export async function readFacts(
  cluster: KubernetesCluster,
  { clock, onProgress }: ReadFactsOptions,
): Promise<ClusterFacts> {
  const version = await cluster.serverVersion();
  const serverClock = await readServerClock(cluster, clock);
  onProgress(`reading ${cluster.server}`);
  const lists = await readLists(cluster, onProgress);
  onProgress('reviewing rights');
  const [gates, callerRights, accounts] = await Promise.all([
    readGates(cluster),
    missingCallerRights(cluster),
    readAccountRights(cluster, lists),
  ]);
  return {
    server: { url: cluster.server, version, isEmbedded: version === emulatedVersion },
    version: packageVersion(),
    nowMs: clock.nowMs(),
    lists,
    clock: serverClock,
    gates,
    missingCallerRights: callerRights,
    accounts,
    // Safe: the types differ only in which fields may be missing.
    ownDefinitions: (await ownDefinitions()) as ClusterFacts['ownDefinitions'],
  };
}

async function readLists(cluster: KubernetesCluster, onProgress: (text: string) => void): Promise<FactLists> {
  const list = async <T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) => {
    const fact = await readList(cluster, resource, options);
    if ('value' in fact) onProgress(`read ${fact.value.length} ${qualifiedPlural(resource)}`);
    return fact;
  };
  const reads = {
    nodes: list(nodes),
    pendingPods: list(pods, { fieldSelector: 'status.phase=Pending' }),
    ownPods: readOwnPods(cluster),
    volumes: list(persistentVolumes),
    claims: list(persistentVolumeClaims),
    classes: list(storageClasses),
    drivers: list(csiDrivers),
    csiNodes: list(csiNodes),
    capacities: list(csiStorageCapacities),
    driverCapacities: list(driverCapacities),
    drives: list(drives),
    storageNodes: list(storageNodes),
    diskSchedules: list(diskSchedules),
    diskVolumes: list(diskVolumes),
    definitions: list(customResourceDefinitions),
    leases: list(leases, { namespace: 'kube-system' }),
    nodeLeases: list(leases, { namespace: 'kube-node-lease' }),
    schedulingEvents: readSchedulingEvents(cluster),
    accounts: list(serviceAccounts),
  };
  const names = Object.keys(reads) as (keyof FactLists)[];
  const values = await Promise.all(names.map((name) => reads[name]));
  // Safe: each name is followed by its own list.
  return Object.fromEntries(names.map((name, at) => [name, values[at]])) as unknown as FactLists;
}

/** All pages. A kind that the server does not have is an empty list. */
export async function readList<T extends KubeObject>(
  cluster: KubernetesCluster,
  resource: Resource<T>,
  options: ListOptions = {},
): Promise<Fact<readonly T[]>> {
  const items: T[] = [];
  let next: string | undefined;
  try {
    do {
      const page = await cluster
        .resource(resource)
        .list({ ...options, limit: pageSize, ...(next && { continue: next }) });
      items.push(...page.items);
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
  } catch (error) {
    if (isReason(error, 'NotFound')) return { value: [] };
    if (!isReason(error, 'Forbidden')) throw error;
    const where = options.namespace === undefined ? '' : ` in ${options.namespace}`;
    return { unread: `no right to list ${qualifiedPlural(resource)}${where}` };
  }
  return { value: items };
}

/** Labels of our manifests, and of the chart. */
const ownPodSelectors = ['app.kubernetes.io/name=stowage', 'app=stowage'];

/** The pods of Stowage's own components, in all namespaces. */
export async function readOwnPods(cluster: KubernetesCluster): Promise<Fact<readonly Pod[]>> {
  const lists = await Promise.all(
    ownPodSelectors.map((labelSelector) => readList(cluster, pods, { labelSelector })),
  );
  const unread = lists.find((fact) => 'unread' in fact);
  if (unread !== undefined) return unread;
  const byUid = new Map(lists.flatMap(factItems).map((pod) => [pod.metadata?.uid, pod]));
  return { value: [...byUid.values()] };
}

async function readSchedulingEvents(cluster: KubernetesCluster): Promise<FactLists['schedulingEvents']> {
  const lists = await Promise.all(
    ['Scheduled', 'FailedScheduling'].map((reason) =>
      readList(cluster, events, { fieldSelector: `reason=${reason}` }),
    ),
  );
  return lists.find((fact) => 'unread' in fact) ?? { value: lists.flatMap(factItems) };
}

async function readServerClock(cluster: KubernetesCluster, clock: Clock): Promise<Fact<ServerClock>> {
  const beforeMs = clock.nowMs();
  const { sentMs } = await cluster.page('/version');
  const afterMs = clock.nowMs();
  if (sentMs === undefined) return { unread: 'the server does not say what time it is' };
  return {
    value: {
      serverMs: sentMs + dateResolutionMs / 2,
      localMs: (beforeMs + afterMs) / 2,
      toleranceMs: (afterMs - beforeMs + dateResolutionMs) / 2,
    },
  };
}

/** kube-apiserver shows its gates as metrics. */
async function readGates(cluster: KubernetesCluster): Promise<ClusterFacts['gates']> {
  try {
    const { text } = await cluster.page('/metrics');
    const found = text.matchAll(/^kubernetes_feature_enabled\{.*?name="([^"]+)".*?\} (\d)/gm);
    return { value: new Map([...found].map(([, name = '', value]) => [name, value === '1'])) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { unread: 'no right to get /metrics of the API server' };
  }
}

async function readAccountRights(
  cluster: KubernetesCluster,
  { accounts }: FactLists,
): Promise<ClusterFacts['accounts']> {
  if ('unread' in accounts) return accounts;
  return await missingAccountRights(cluster, accounts.value, await componentRights());
}
