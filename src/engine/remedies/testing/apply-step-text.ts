/** Applies a remedy to a cluster from its text alone, as a reader of the text would. */
import type { Node, PersistentVolume, Taint } from '../../../kube/api/core.ts';
import { parseQuantity, quantityToNano } from '../../../kube/quantities/quantity.ts';
import { hostname } from '../../testing/objects.ts';
import {
  preferAffinity,
  raiseSkew,
  requesting,
  selectingLess,
  tolerating,
  withoutPods,
} from './pod-changes.ts';
import {
  changeObject,
  changePodSpec,
  itemsIn,
  listed,
  type MatchedGroups,
  pairsIn,
  type RemedySituation,
  withList,
} from './remedy-situation.ts';

/**
 * The situation after one step. Only the text of the step counts, and the name of an object that it creates. Throws if the text does not
 * say what to do.
 */
export function applyStepText(
  { text, name }: { text: string; name: string },
  before: RemedySituation,
): RemedySituation {
  for (const [pattern, act] of acts) {
    const match = pattern.exec(text);
    if (match !== null) return act([...match.slice(1), name], before);
  }
  throw new Error(`no pattern matches the step: ${text}`);
}

type Act = (groups: MatchedGroups, before: RemedySituation) => RemedySituation;

const acts: readonly (readonly [RegExp, Act])[] = [
  [
    /^create a PersistentVolume of (\S+?)(?: without a class|, class (\S+?))(?:, access mode ((?:Read\w+(?:, )?)+?))?(, volume mode Block)?(?:, attributes class (\S+?))?(?:, labelled (.+?))?,? that node (\S+) can reach$/,
    createVolume,
  ],
  [/^add a node like (\S+), but with (.+)$/, addNode],
  [/^add a node like (\S+) \(/, ([like], before) => addNode([like], before)],
  [/^uncordon node (\S+)$/, ([name = ''], before) => changeObject(before, 'Node', name, uncordoned)],
  [
    /^remove taints? (.+) from node (\S+) and fix its condition, so that Kubernetes removes its taints? (.+)$/,
    ([some = '', name = '', others], before) =>
      changeObject(before, 'Node', name, withoutTaints(`${some}, ${others}`)),
  ],
  [
    /^remove taints? (.+) from node (\S+)$/,
    ([taints = '', name = ''], before) => changeObject(before, 'Node', name, withoutTaints(taints)),
  ],
  [
    /^fix the condition of node (\S+), so that Kubernetes removes its taints? (.+)$/,
    ([name = '', taints = ''], before) => changeObject(before, 'Node', name, withoutTaints(taints)),
  ],
  [
    /^label node (\S+) with (.+?)(?: instead of (?:.+?))?(?: and remove labels? (.+) from it)?$/,
    ([name = '', put = '', gone = ''], before) => changeObject(before, 'Node', name, relabelled(put, gone)),
  ],
  [
    /^remove labels? (.+) from node (\S+)$/,
    ([gone = '', name = ''], before) => changeObject(before, 'Node', name, relabelled('', gone)),
  ],
  [
    /^raise maxPods of the kubelet on node (\S+) by (\d+) \(it is (\d+)\)$/,
    ([name = '', more, now], before) =>
      changeObject(before, 'Node', name, withMore('pods', `${Number(more) + Number(now)}`)),
  ],
  [/^add (\S+)(?: bytes?)?(?: of)? (\S+) to node (\S+) \(it has (?:\S+)\)$/, growNode],
  [/^grow the storage behind CSIStorageCapacity (\S+) by (\S+)(?: bytes?)?, to \S+$/, growCapacity],
  [/^grow pool ([^/]+)\/(\S+) by (\S+)(?: bytes?)?, to \S+$/, growPool],
  [
    /^clear the claimRef of PersistentVolume (\S+), whose claim is gone \(/,
    ([name = ''], before) => changeObject(before, 'PersistentVolume', name, unclaimed),
  ],
  [/^add (.+) to the allowedTopologies of StorageClass (\S+)$/, allowTopology],
  [/^install CSI drivers? (.+) on node (\S+)$/, installDrivers],
  [
    /^remove the annotation volume\.kubernetes\.io\/selected-node \(\S*\) from claim (\S+?)(?: \(the provisioner may already be creating a volume there\))?$/,
    ([name = ''], before) =>
      changeObject(before, 'PersistentVolumeClaim', name, (claim) => ({
        ...claim,
        metadata: { ...claim.metadata, annotations: {} },
      })),
  ],
  [
    /^lower the storage request of (?:claim|the pod's volume template for claim) (\S+) from \S+ to (\S+)(?: \(recreate the claim: a claim cannot shrink\))?$/,
    ([name = '', storage = ''], before) =>
      changeObject(before, 'PersistentVolumeClaim', name, (claim) => ({
        ...claim,
        spec: { ...claim.spec, resources: { requests: { storage } } },
      })),
  ],
  [
    /^add tolerations? for (.+) to the pod$/,
    ([taints = ''], before) => changePodSpec(before, tolerating(taints)),
  ],
  [
    /^remove (?:node selector (.+?))?(?: and )?(the required node affinity)? from the pod$/,
    ([labels = '', affinity], before) => changePodSpec(before, selectingLess(labels, affinity !== undefined)),
  ],
  [
    /^lower the pod's (\S+) request from \S+ to (\S+)$/,
    ([resource = '', total = ''], before) => changePodSpec(before, requesting(resource, total)),
  ],
  [/^raise maxSkew of the topology spread constraint over (\S+) from (\d+) to (\d+)$/, raiseSkew],
  [/^make the pod's required pod (affinity|anti-affinity) a preference$/, preferAffinity],
  [
    /^(?:remove|wait until) pods? (.+?)(?: \(scale down .+\)|, which (?:is|are) being deleted, (?:is|are) gone)?$/,
    withoutPods,
  ],
];

function createVolume(groups: MatchedGroups, before: RemedySituation): RemedySituation {
  const [
    storage = '',
    storageClassName = '',
    modes = 'ReadWriteOnce',
    block,
    attributes,
    labels = '',
    node = '',
    name = '',
  ] = groups;
  const host = listed(before, 'Node').find(({ metadata }) => metadata?.name === node)?.metadata?.labels?.[
    hostname
  ];
  const expression = { key: hostname, operator: 'In', values: [host ?? ''] } as const;
  const volume = {
    metadata: {
      name,
      uid: name,
      labels: pairsIn(labels),
    },
    spec: {
      capacity: { storage },
      accessModes: modes.split(', ') as NonNullable<PersistentVolume['spec']>['accessModes'] & object,
      storageClassName,
      ...(block !== undefined && { volumeMode: 'Block' as const }),
      ...(attributes !== undefined && { volumeAttributesClassName: attributes }),
      ...(host !== undefined && {
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
      }),
    },
    status: { phase: 'Available' as const },
  };
  return withList(before, 'PersistentVolume', [...listed(before, 'PersistentVolume'), volume]);
}

/** Adds the pods of DaemonSets too. */
function addNode([like = '', larger = '']: MatchedGroups, before: RemedySituation): RemedySituation {
  const name = 'added-node';
  const model = listed(before, 'Node').find(({ metadata }) => metadata?.name === like);
  const labels = { ...model?.metadata?.labels, [hostname]: name };
  const taints = (model?.spec?.taints ?? []).filter(
    ({ key = '' }) => !/^(node\.(\w+\.)?kubernetes\.io|ToBeDeleted)/.test(key),
  );
  const sizes = [...larger.matchAll(/(\S+) (\S+) \(\S+ has \S+\)/g)].map(([, resource, size]) => [
    resource,
    size,
  ]);
  const allocatable = { ...model?.status?.allocatable, ...Object.fromEntries(sizes) };
  const node: Node = { ...model, metadata: { name, labels }, spec: { taints }, status: { allocatable } };
  const drivers = listed(before, 'CSINode').filter(({ metadata }) => metadata?.name === like);
  const pods = listed(before, 'Pod')
    .filter(
      ({ metadata, spec }) => spec?.nodeName === like && metadata?.ownerReferences?.[0]?.kind === 'DaemonSet',
    )
    .map((pod) => ({
      ...pod,
      metadata: { ...pod.metadata, name: `${pod.metadata?.name}-again`, uid: `${pod.metadata?.name}-again` },
      spec: { ...pod.spec, nodeName: name },
    }));
  const withNode = withList(before, 'Node', [...listed(before, 'Node'), node]);
  const withDrivers = withList(withNode, 'CSINode', [
    ...listed(before, 'CSINode'),
    ...drivers.map((object) => ({ ...object, metadata: { name } })),
  ]);
  return withList(withDrivers, 'Pod', [...listed(before, 'Pod'), ...pods]);
}

function uncordoned(node: Node): Node {
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== 'node.kubernetes.io/unschedulable');
  return { ...node, spec: { ...node.spec, unschedulable: false, taints } };
}

function taintText({ key = '', value = '', effect = 'NoSchedule' }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

function withoutTaints(texts: string): (node: Node) => Node {
  const gone = new Set(itemsIn(texts));
  return (node) => ({
    ...node,
    spec: { ...node.spec, taints: (node.spec?.taints ?? []).filter((taint) => !gone.has(taintText(taint))) },
  });
}

function relabelled(put: string, gone: string): (node: Node) => Node {
  return (node) => {
    const labels: Record<string, string> = { ...node.metadata?.labels, ...pairsIn(put) };
    for (const key of itemsIn(gone)) delete labels[key];
    return { ...node, metadata: { ...node.metadata, labels } };
  };
}

function withMore(resource: string, quantity: string): (node: Node) => Node {
  return (node) => ({
    ...node,
    status: { ...node.status, allocatable: { ...node.status?.allocatable, [resource]: quantity } },
  });
}

function growNode(
  [more = '', resource = '', name = '']: MatchedGroups,
  before: RemedySituation,
): RemedySituation {
  return changeObject(before, 'Node', name, (node) =>
    withMore(resource, sum(node.status?.allocatable?.[resource], more))(node),
  );
}

/** The amount in thousandths, the finest unit that steps use. */
function sum(...quantities: readonly unknown[]): string {
  const milli = quantities.map((text) => {
    const parsed = parseQuantity(text ?? '0');
    return parsed.ok ? quantityToNano(parsed.quantity) / 1_000_000n : 0n;
  });
  return `${milli.reduce((total, one) => total + one, 0n)}m`;
}

/** The maximum volume size grows with the capacity only if the two are equal. */
function growCapacity([name = '', by = '']: MatchedGroups, before: RemedySituation): RemedySituation {
  return changeObject(before, 'CSIStorageCapacity', name, (object) => {
    const { capacity, maximumVolumeSize } = object;
    const isOne = capacity === undefined || sum(capacity) === sum(maximumVolumeSize);
    return {
      ...object,
      ...((capacity !== undefined || maximumVolumeSize === undefined) && { capacity: sum(capacity, by) }),
      ...(maximumVolumeSize !== undefined && isOne && { maximumVolumeSize: sum(maximumVolumeSize, by) }),
    };
  });
}

function growPool([driver = '', name, by]: MatchedGroups, before: RemedySituation): RemedySituation {
  return changeObject(before, 'DriverCapacity', driver, (object) => ({
    ...object,
    status: {
      ...object.status,
      storage: (object.status?.storage ?? []).map((entry) => ({
        ...entry,
        pools: (entry.pools ?? []).map((pool) =>
          pool.name === name ? { ...pool, capacity: sum(pool.capacity, by) } : pool,
        ),
      })),
    },
  }));
}

function unclaimed(volume: PersistentVolume): PersistentVolume {
  const { claimRef: _, ...spec } = volume.spec ?? {};
  return { ...volume, spec, status: { phase: 'Available' } };
}

function allowTopology([pairs = '', name = '']: MatchedGroups, before: RemedySituation): RemedySituation {
  const expressions = Object.entries(pairsIn(pairs)).map(([key, value]) => ({ key, values: [value] }));
  return changeObject(before, 'StorageClass', name, (storageClass) => ({
    ...storageClass,
    allowedTopologies: [...(storageClass.allowedTopologies ?? []), { matchLabelExpressions: expressions }],
  }));
}

function installDrivers([drivers = '', node = '']: MatchedGroups, before: RemedySituation): RemedySituation {
  const known = listed(before, 'CSINode').find(({ metadata }) => metadata?.name === node);
  const added = itemsIn(drivers).map((name) => ({ name, nodeID: node }));
  const others = listed(before, 'CSINode').filter((object) => object !== known);
  const spec = { drivers: [...(known?.spec?.drivers ?? []), ...added] };
  return withList(before, 'CSINode', [...others, { ...known, metadata: { name: node }, spec }]);
}
