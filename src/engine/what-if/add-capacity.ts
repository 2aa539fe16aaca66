import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { type Drive, driveNodeKey, drivesDriver } from '../../kube/stowage/drive.ts';
import { freeNodeNames } from '../remedies/new-node-steps.ts';
import { nodeLike } from '../remedies/node-like.ts';
import { WhatIfError } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** New nodes like an existing one, with drives of the same sizes, all empty. */
export function addNodes(
  sink: ChangeSink,
  { count, like }: { readonly count: number; readonly like: string },
): void {
  const { cluster } = sink;
  if (cluster.get('Node', like) === undefined)
    throw new WhatIfError(`there is no node ${like}; kubectl get nodes lists those there are`);
  const template: NodeTemplate = {
    like,
    drives: [...cluster.values('Drive')].filter(({ spec }) => spec?.nodeName === like),
    pools: [...cluster.values('CSIStorageCapacity')].filter((capacity) => isOwnPool(capacity, like)),
  };
  addNext(sink, template, freeNodeNames(cluster.index, count));
}

interface NodeTemplate {
  readonly like: string;
  readonly drives: readonly Drive[];
  readonly pools: readonly CSIStorageCapacity[];
}

/**
 * One node after the other: pods that wait may get the first one before the second one is there. A node that no pod has used, and for which none was evicted, is
 * the last such step: the others are alike, and are added together. Otherwise every pod that waits would be decided on for each of thousands of nodes.
 */
function addNext(sink: ChangeSink, template: NodeTemplate, [name, ...others]: readonly string[]): void {
  if (name === undefined) return;
  sink.later(() => {
    addNode(sink.cluster, template, name);
    const before = sink.moves();
    sink.later(() => {
      if (sink.moves() > before) return addNext(sink, template, others);
      for (const other of others) addNode(sink.cluster, template, other);
    });
  });
}

function addNode(cluster: WhatIfCluster, { like, drives, pools }: NodeTemplate, name: string): void {
  const objects = nodeLike({ index: cluster.index, objects: cluster }, like, name);
  for (const { kind, object } of objects) cluster.put(kind, object as never);
  for (const drive of drives) cluster.put('Drive', emptyDrive(drive, name));
  for (const pool of pools) addOwnPool(cluster, pool, like, name);
}

function emptyDrive({ metadata, spec, status }: Drive, nodeName: string): Drive {
  const { unschedulable: _, ...kept } = spec ?? {};
  return {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name: `${metadata?.name}-${nodeName}`, labels: metadata?.labels ?? {} },
    spec: { ...kept, nodeName, volumes: [] },
    status: { capacityBytes: status?.capacityBytes ?? 0, state: 'Ready' },
  };
}

/** A pool that only the template reaches. The drives of a node are pools themselves. */
function isOwnPool({ nodeTopology }: CSIStorageCapacity, like: string): boolean {
  const { matchLabels = {}, matchExpressions = [] } = nodeTopology ?? {};
  const isOwn = Object.values(matchLabels).includes(like) && matchExpressions.length === 0;
  return isOwn && matchLabels[driveNodeKey] === undefined;
}

/** The new node has a separate pool. It reports the bytes that are free on the template now, the least that it can have. */
function addOwnPool(cluster: WhatIfCluster, capacity: CSIStorageCapacity, like: string, name: string): void {
  const { matchLabels = {} } = capacity.nodeTopology ?? {};
  const labels = Object.entries(matchLabels).map(([key, value]) => [key, value === like ? name : value]);
  cluster.put('CSIStorageCapacity', {
    ...capacity,
    metadata: {
      namespace: capacity.metadata?.namespace ?? '',
      name: `${capacity.metadata?.name}-${name}`,
    },
    nodeTopology: { matchLabels: Object.fromEntries(labels) as Record<string, string> },
  });
  cluster.notes.add(
    `the pools of a new node are as large as what is free on ${like} now; an empty node may have more`,
  );
}

export function addDrive(
  cluster: WhatIfCluster,
  { node, bytes, tier }: { readonly node: string; readonly bytes: number; readonly tier: string | undefined },
): void {
  if (cluster.get('Node', node) === undefined)
    throw new WhatIfError(`there is no node ${node}; kubectl get nodes lists those there are`);
  registerDriveNode(cluster, node);
  let number = 1;
  while (cluster.get('Drive', `new-drive-${number}`) !== undefined) number += 1;
  cluster.put('Drive', {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name: `new-drive-${number}` },
    spec: { nodeName: node, volumes: [], ...(tier !== undefined && { accessTier: tier }) },
    status: { capacityBytes: bytes, state: 'Ready' },
  });
}

/** The controller of drives does this with the first drive of a node: the label that volumes are pinned by, and an entry in the CSINode. */
function registerDriveNode(cluster: WhatIfCluster, name: string): void {
  const node = cluster.get('Node', name);
  const labels = node?.metadata?.labels ?? {};
  if (labels[driveNodeKey] === undefined)
    cluster.put('Node', {
      ...node,
      metadata: { ...node?.metadata, labels: { ...labels, [driveNodeKey]: name } },
    });
  const known = cluster.get('CSINode', name);
  const drivers = known?.spec?.drivers ?? [];
  if (drivers.some((driver) => driver.name === drivesDriver)) return;
  const entry = { name: drivesDriver, nodeID: name, topologyKeys: [driveNodeKey] };
  cluster.put('CSINode', {
    ...known,
    metadata: { ...known?.metadata, name },
    spec: { drivers: [...drivers, entry] },
  });
}
