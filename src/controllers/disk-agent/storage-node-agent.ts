import { isReason } from '../../kube/api-error.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { nodes } from '../../kube/resources.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { diskAgentCaches } from './agent-caches.ts';
import { meterAgent } from './agent-metrics.ts';
import type { AgentParts } from './agent-parts.ts';
import { CopyTasks } from './copy-tasks.ts';
import type { AgentNodeSettings, DiskAgentSettings } from './disk-agent-settings.ts';
import type { HostFiles } from './files/host-files.ts';
import { ImageCopies } from './images/image-copies.ts';
import { ImageReader } from './images/image-reader.ts';
import { ImageUploads } from './images/image-uploads.ts';
import { ReplicaFiles } from './replicas/replica-files.ts';
import { servedData } from './served-data.ts';
import { AgentDisks } from './status/agent-disks.ts';
import { Heartbeat } from './status/heartbeat.ts';
import { NodeStatus } from './status/node-status.ts';
import { AgentServer } from './transfer/agent-server.ts';

export interface StorageNodeAgentOptions {
  readonly nodeName: string;
  readonly node: AgentNodeSettings;
  readonly settings: Omit<DiskAgentSettings, 'nodes'>;
  readonly files: HostFiles;
  readonly newToken: () => string;
}

/** Listens on every address of the machine. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Runs the agent of one node until `signal` aborts. */
export async function runStorageNodeAgent(
  context: ControllerContext,
  { nodeName, node, settings, files, newToken }: StorageNodeAgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { diskPath } = node;
  if (diskPath !== undefined) await ensureStorageNode(context, { nodeName, diskPath }, signal);
  const { clock, ids, informers, report } = context;
  const caches = diskAgentCaches(informers);
  const disks = new AgentDisks({ files, clock, ids });
  let status: NodeStatus | undefined;
  const onFilesChanged = () => status?.wake();
  const parts: AgentParts = { nodeName, context, files, disks, caches, newToken, onFilesChanged };
  const reader = new ImageReader(parts);
  const tasks = new CopyTasks();
  const copies = new ImageCopies(parts, tasks);
  const uploads = new ImageUploads({
    parts,
    reader,
    tasks,
    onEnd: (image, uuid) => copies.wake(image, uuid),
  });
  await using server = await AgentServer.start({
    host: settings.listenHost,
    port: settings.port,
    advertisedHost: settings.advertisedHost ?? (await hostOf(context, nodeName, settings.listenHost, signal)),
    served: servedData({ parts, reader, uploads }),
    clock,
    onError: (error) => report({ controller: 'disk-agent', key: nodeName, error }),
  });
  const heartbeat = new Heartbeat(context, { nodeName, onRecovered: () => status?.wake() });
  const upload = () => server.address;
  status = new NodeStatus(context, { nodeName, files, disks, caches, heartbeat, upload });
  const stopMetering = meterAgent(context.metrics, {
    nodeName,
    node: () => caches.nodes.get(nodeName),
    probeAgeMs: () => status?.probeAgeMs,
  });
  try {
    await Promise.all([
      heartbeat.run(signal),
      status.run(signal),
      copies.run(signal),
      new ReplicaFiles(parts).run(signal),
    ]);
  } finally {
    stopMetering();
  }
}

/** Other nodes can't use a wildcard address; the Node says where it is reached. */
async function hostOf(
  { cluster }: ControllerContext,
  name: string,
  listenHost: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (listenHost !== undefined && !wildcards.has(listenHost)) return listenHost;
  const node = await undefinedIfNotFound(cluster.resource(nodes).get({ name }, { signal }));
  const addresses = node?.status?.addresses ?? [];
  return addresses.find(({ type }) => type === 'InternalIP')?.address ?? name;
}

/** The name of the disk in a StorageNode that this program creates. */
const diskName = 'default';

/** Creates a StorageNode with one disk, if it is missing. One that exists is not changed. */
async function ensureStorageNode(
  { cluster, log }: Pick<ControllerContext, 'cluster' | 'log'>,
  { nodeName, diskPath }: { readonly nodeName: string; readonly diskPath: string },
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(storageNodes);
  const found = await undefinedIfNotFound(client.get({ name: nodeName }, { signal }));
  if (found !== undefined) {
    const paths = Object.values(found.spec?.disks ?? {}).map(({ path }) => path);
    if (!paths.includes(diskPath))
      log.warn(
        `StorageNode ${nodeName} exists without a disk at ${diskPath}; to use it, add it to spec.disks with kubectl edit storagenode ${nodeName}`,
      );
    return;
  }
  const spec = { disks: { [diskName]: { path: diskPath } } };
  const body = {
    apiVersion: apiVersionOf(storageNodes),
    kind: 'StorageNode',
    metadata: { name: nodeName },
    spec,
  };
  try {
    await client.create(body, { signal });
  } catch (error) {
    // Another process was faster.
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
