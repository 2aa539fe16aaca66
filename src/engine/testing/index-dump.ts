import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeSet } from '../cluster-index/nodes/node-set.ts';
import type { CapacityPromise } from '../cluster-index/pools/promise-table.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nanoOf } from '../size.ts';

/**
 * The whole state that decisions use, with names and numbers instead of rows, in a canonical order. Two indexes with equal dumps give
 * equal answers, whatever their history.
 */
export function dumpIndex(index: ClusterIndex, ledger?: Ledger): unknown {
  return {
    nodes: dumpNodes(index),
    volumes: dumpVolumes(index),
    freeVolumes: dumpFreeVolumes(index),
    claims: dumpClaims(index),
    classes: sorted(
      [...index.classes.keys()].map((name) => [name, names(index, index.allowedTopology(name).nodes)]),
    ),
    drivers: sorted(
      [...index.drivers.values()].map((driver) => [driver.key, driver.version, driver.tracksCapacity]),
    ),
    pools: dumpPools(index),
    promises: sorted([...index.promises.all()].map(dumpPromise)),
    attachments: sorted([...index.attachments.attachments()].map(({ key, version }) => [key, version])),
    pods: sorted([...index.pods.records()].map(({ key, version, nodeName }) => [key, version, nodeName])),
    assumed: sorted([...(ledger?.all() ?? [])].map(({ podKey, placement }) => [podKey, placement.node])),
  };
}

/** Settled promises depend on when a plan first saw them, so this expires them before the dump. */
export function dumpSettled(index: ClusterIndex, nowMs: number, ledger?: Ledger): unknown {
  expirePromises(index, nowMs);
  return dumpIndex(index, ledger);
}

export function expirePromises(index: ClusterIndex, nowMs: number): void {
  index.settle(nowMs);
  index.settle(nowMs + 2 * index.profile.settledPromiseMaxMs);
}

const drivers = ['d1', 'd2', 'ebs.csi.aws.com'];

function dumpNodes(index: ClusterIndex): unknown {
  return index.nodes.rowsByName.map((row) => {
    const { key, version, labels } = index.nodes.record(row)!;
    const attached = sorted(
      [...index.attachments.attachedOn(key)]
        .filter(([, handles]) => handles.size > 0)
        .map(([driver, handles]) => [driver, [...handles.keys()].sort()]),
    );
    return {
      key,
      version,
      labels: sorted(Object.entries(labels)),
      attached,
      slots: drivers.map((driver) => index.attachments.slots(driver)[row]),
      tightest: index.attachments.tightestSlots()[row],
      pods: [...index.pods.onNode(key)].map((pod) => pod.key).sort(),
    };
  });
}

function dumpVolumes(index: ClusterIndex): unknown {
  const records = [...index.volumes.records()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return records.map(({ key, version }) => {
    const row = index.volumes.row(key)!;
    return {
      key,
      version,
      isOffered: index.volumes.isFree(row),
      holder: index.volumes.holderOf(key),
      nodes: names(index, index.volumes.topology(row).nodes),
      migrated:
        index.volumes.migratedTopology(row) && names(index, index.volumes.migratedTopology(row)!.nodes),
    };
  });
}

/** The free volumes that a claim would search on each node, in order, by class, mode and attributes class. */
function dumpFreeVolumes(index: ClusterIndex): unknown {
  const kinds = new Map<string, { className: string; mode: string; attributesClass: string }>();
  for (const { className, mode, attributesClass } of index.volumes.records())
    kinds.set(`${className} ${mode} ${attributesClass}`, { className, mode, attributesClass });
  return sorted(
    [...kinds].map(([kind, query]) => {
      const groups = index.volumes.groupsFor({ ...query, accessModes: 0 });
      const partition = index.volumes.partitionFor(groups, index.nodes.rowCount);
      const onNodes = index.nodes.rowsByName.map((row) => [
        index.nodes.record(row)!.key,
        partition
          .itemsAt(row)
          .map((list) => volumesOf(index, list))
          .filter((list) => list.length > 0)
          .sort(),
      ]);
      return [kind, onNodes];
    }),
  );
}

function volumesOf({ volumes }: ClusterIndex, list: number): string[] {
  const rows = volumes.lists.rows.subarray(volumes.lists.starts[list], volumes.lists.ends[list]);
  return Array.from(rows, (row) => volumes.record(row).key);
}

function dumpClaims(index: ClusterIndex): unknown {
  return sorted(
    [...index.claims.records()].map(({ key, uid, version, volumeName }) => [
      key,
      uid,
      version,
      index.volumes.claimedFor(key).map((volume) => volume.key),
      index.volumes.heldFor(key)?.key,
      [...index.pods.usingClaim(key)].map((pod) => pod.key).sort(),
      volumeName === '' ? [] : [...index.claims.namingVolume(volumeName)].sort(),
    ]),
  );
}

function dumpPools(index: ClusterIndex): unknown {
  const records = [...index.pools.records()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return records.map(({ key }) => {
    const row = index.pools.row(key)!;
    return {
      key,
      available: nanoOf(index.pools.available(row)),
      limit: index.pools.limit(row),
      hasPromises: index.pools.hasPromises(row),
      promises: sorted([...index.pools.promisesOf(key)].map(([id, size]) => [id, nanoOf(size)])),
      nodes: index.nodes.rowsByName
        .filter((node) => index.pools.topology(row).nodes.has(node))
        .map((node) => index.nodes.record(node)!.key),
    };
  });
}

function dumpPromise({ id, size, ...rest }: CapacityPromise): readonly [string, unknown] {
  return [id, { ...rest, size: nanoOf(size) }];
}

function names({ nodes }: ClusterIndex, set: NodeSet): string[] {
  return set
    .rows()
    .map((row) => nodes.record(row)!.key)
    .sort();
}

/** Sorted by the first element of each entry. */
function sorted<T extends readonly [string, ...unknown[]]>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => (a[0] === b[0] ? 0 : a[0] < b[0] ? -1 : 1));
}
