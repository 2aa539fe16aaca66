import { expect, test } from 'vitest';
import type {
  PersistentVolume,
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
} from '../../../../kube/api/core.ts';
import type { ObjectMeta } from '../../../../kube/api/meta.ts';
import type { CSIDriver } from '../../../../kube/api/storage.ts';
import { attachmentFor } from './attachments.ts';
import { checkMounts, type MountView } from './mount-check.ts';

interface Case {
  readonly what: string;
  readonly modes?: readonly PersistentVolumeAccessMode[];
  readonly claim?: ObjectMeta;
  readonly phase?: 'Pending' | 'Bound' | 'Lost';
  readonly volumeName?: string;
  readonly volume?: PersistentVolumeSpec;
  readonly pod?: PodSpec;
  /** Other pods that hold the claim, as `NAME@NODE PHASE`. */
  readonly users?: readonly string[];
  /** Nodes to which the volume is attached. */
  readonly attachedTo?: readonly string[];
  readonly freeSlots?: number;
  /** Drivers on the node; all drivers if left out. */
  readonly drivers?: readonly string[];
  readonly attachRequired?: false;
  readonly volumeScheduling?: false;
  readonly expected: string;
}

const csi = { driver: 'd.example.com', volumeHandle: 'h' };
const own: ObjectMeta = { namespace: 'default', name: 'data', uid: 'c1' };
const processing = 'error processing PVC default/data:';

function volumeOf({ modes = ['ReadWriteOnce'], volume = {} }: Case): PersistentVolume {
  const source = volume.hostPath === undefined ? { csi } : {};
  return {
    metadata: { name: 'v' },
    spec: { accessModes: modes, ...source, claimRef: { uid: 'c1' }, ...volume },
  };
}

function userOf(text: string): Pod {
  const [, name = '', nodeName = '', phase] = /^(.*)@(.*) (.*)$/.exec(text) ?? [];
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}` },
    spec: { nodeName },
    status: { phase: phase === 'Running' ? 'Running' : 'Pending' },
  };
}

function viewOf(given: Case): MountView {
  const driver: CSIDriver = { spec: { attachRequired: given.attachRequired ?? true } };
  const { claim = {}, phase = 'Bound', volumeName = 'v', users = [], attachedTo = [] } = given;
  const bound: PersistentVolumeClaim = {
    metadata: { ...own, ...claim },
    spec: { volumeName },
    status: { phase },
  };
  return {
    pod: {
      metadata: { namespace: 'default', name: 'web', uid: 'p1' },
      spec: { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'data' } }], ...given.pod },
    },
    node: { metadata: { name: 'n1', labels: { zone: 'a' } } },
    claim: (name) => (name === 'data' || name === 'web-disk' ? bound : undefined),
    volume: (name) => (name === 'v' ? volumeOf(given) : undefined),
    attachment: (volume) => attachmentFor(volume, 'n1', driver),
    attachments: (volume) => attachedTo.flatMap((name) => attachmentFor(volume, name, driver) ?? []),
    users: () => users.map(userOf),
    freeSlots: () => given.freeSlots ?? Number.POSITIVE_INFINITY,
    hasDriver: (name) => given.drivers?.includes(name) ?? true,
    mayRegister: false,
    checksNodeAffinity: given.volumeScheduling ?? true,
    config: {
      secret: (name) => (name === 'password' ? { data: { key: '' } } : undefined),
      configMap: (name) =>
        name === 'settings' ? { data: { mode: '' }, binaryData: { logo: '' } } : undefined,
    },
  };
}

/** The reason if it is blocked; otherwise whether the claim must be annotated. */
function summarize(view: MountView): string {
  const check = checkMounts(view);
  if (check.kind === 'blocked')
    return `${check.block.reason} ${check.block.note.replace(/^.*failed to process/, '…')}`;
  return [
    'ready',
    ...check.mounts.map(({ needsAnnotation }) => (needsAnnotation ? 'unannotated' : 'annotated')),
  ].join(' ');
}

function inZone(zone: string): PersistentVolumeSpec {
  const matchExpressions = [{ key: 'zone', operator: 'In', values: [zone] }] as const;
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

function ofNode(name: string): PersistentVolumeSpec {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [name] }] as const;
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields }] } } };
}

function marked(text: string): ObjectMeta {
  return { annotations: { 'stowage.dev/mounted': text } };
}

function unprocessed(why: string): string {
  return `FailedMount … volumes=[disk]: ${why}`;
}

const container = { name: 'main', volumeMounts: [{ name: 'disk', mountPath: '/a' }] };
const inUse =
  'FailedMount MountVolume.SetUp failed for volume "v" : volume uses the ReadWriteOncePod access mode and is already in use by another pod';

const cases: readonly Case[] = [
  { what: 'no obstacle', expected: 'ready unannotated' },
  { what: 'no volumes', pod: { volumes: [{ name: 'tmp', emptyDir: {} }] }, expected: 'ready' },
  {
    what: 'a claim that does not exist',
    pod: { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'x' } }] },
    expected: unprocessed(
      'error processing PVC default/x: failed to fetch PVC from API server: persistentvolumeclaims "x" not found',
    ),
  },
  {
    what: 'a claim that is not bound',
    phase: 'Pending',
    expected: unprocessed(`${processing} PVC is not bound`),
  },
  {
    what: 'a claim that is being deleted',
    claim: { deletionTimestamp: '2025-01-01T00:00:00Z' },
    expected: unprocessed(`${processing} PVC is being deleted`),
  },
  {
    what: 'a claim that is being deleted but protected',
    claim: { deletionTimestamp: '2025-01-01T00:00:00Z', finalizers: ['kubernetes.io/pvc-protection'] },
    expected: 'ready unannotated',
  },
  {
    what: 'an ephemeral volume whose claim is not its own',
    pod: { volumes: [{ name: 'disk', ephemeral: {} }] },
    claim: { name: 'web-disk' },
    expected: unprocessed('PVC default/web-disk was not created for pod default/web (pod is not owner)'),
  },
  {
    what: 'a volume that is gone',
    volumeName: 'x',
    expected: unprocessed(
      `${processing} failed to fetch PV x from API server: persistentvolumes "x" not found`,
    ),
  },
  {
    what: 'a volume of another claim',
    volume: { claimRef: { uid: 'c2' } },
    expected: unprocessed(
      `${processing} found PV object v but its pv.Spec.ClaimRef.UID c2 does not point to claim.UID c1`,
    ),
  },
  {
    what: 'a device instead of a file system',
    volume: { volumeMode: 'Block' },
    pod: { containers: [container] },
    expected: unprocessed('volume disk has volumeMode Block, but is specified in volumeMounts'),
  },
  { what: 'a volume of its zone', volume: inZone('a'), expected: 'ready unannotated' },
  {
    what: 'a volume of another zone',
    volume: inZone('b'),
    expected:
      'FailedMount MountVolume.NodeAffinity check failed for volume "v" : no matching NodeSelectorTerms',
  },
  {
    what: 'a volume of another zone, without the gate VolumeScheduling',
    volume: inZone('b'),
    volumeScheduling: false,
    expected: 'ready unannotated',
  },
  {
    what: 'a volume of another node, by its name',
    volume: ofNode('n2'),
    expected:
      'FailedMount MountVolume.NodeAffinity check failed for volume "v" : no matching NodeSelectorTerms',
  },
  { what: 'a volume of this node, by its name', volume: ofNode('n1'), expected: 'ready unannotated' },
  {
    what: 'a device of another zone',
    volume: { ...inZone('b'), volumeMode: 'Block' },
    expected:
      'FailedMount MapVolume.NodeAffinity check failed for volume "v" : no matching NodeSelectorTerms',
  },
  {
    what: 'a claim whose binding is being rolled back',
    claim: { annotations: { 'stowage.dev/rollback': 'yes' } },
    expected:
      'FailedMount MountVolume.SetUp failed for volume "v" : the binding of claim data is being rolled back',
  },
  {
    what: 'the annotation of an earlier pod of its node',
    claim: marked('n1/old'),
    expected: 'ready annotated',
  },
  {
    what: 'the annotation of an earlier pod elsewhere',
    claim: marked('n2/old'),
    expected: 'ready unannotated',
  },
  {
    what: 'the annotation of an earlier pod elsewhere, on a volume for many nodes',
    modes: ['ReadWriteMany'],
    claim: marked('n2/old'),
    expected: 'ready annotated',
  },
  {
    what: 'another pod that holds a ReadWriteOncePod volume',
    modes: ['ReadWriteOncePod'],
    claim: marked('n1/uid-a'),
    users: ['a@n1 Pending'],
    expected: inUse,
  },
  {
    what: 'another pod that needs the same ReadWriteOncePod volume',
    modes: ['ReadWriteOncePod'],
    users: ['a@n1 Pending'],
    expected: 'ready unannotated',
  },
  {
    what: 'an earlier pod on a ReadWriteOncePod volume',
    modes: ['ReadWriteOncePod'],
    claim: marked('n1/uid-a'),
    expected: 'ready unannotated',
  },
  {
    what: 'another pod on another node',
    claim: marked('n2/uid-a'),
    users: ['a@n2 Running'],
    attachedTo: ['n2'],
    expected: 'FailedAttachVolume Multi-Attach error for volume "v" Volume is already used by pod(s) a',
  },
  {
    what: 'a volume that another node has not detached',
    attachedTo: ['n2'],
    expected:
      'FailedAttachVolume Multi-Attach error for volume "v" Volume is already exclusively attached to one node and can\'t be attached to another',
  },
  {
    what: 'another pod on another node, and a volume for many',
    modes: ['ReadWriteMany'],
    users: ['a@n2 Running'],
    attachedTo: ['n2'],
    expected: 'ready unannotated',
  },
  {
    what: 'no free slot',
    freeSlots: 0,
    expected:
      'FailedAttachVolume AttachVolume.Attach failed for volume "v" : rpc error: code = ResourceExhausted desc = node n1 can attach no more volumes of d.example.com',
  },
  {
    what: 'no free slot, but the volume is attached',
    freeSlots: 0,
    attachedTo: ['n1'],
    expected: 'ready unannotated',
  },
  { what: 'its driver on the node', drivers: ['d.example.com'], expected: 'ready unannotated' },
  {
    what: 'another driver on the node',
    drivers: ['e.example.com'],
    expected:
      'FailedAttachVolume AttachVolume.Attach failed for volume "v" : CSINode n1 does not contain driver d.example.com',
  },
  {
    what: 'another driver on the node, and no attachment needed',
    drivers: [],
    attachRequired: false,
    expected:
      'FailedMount MountVolume.MountDevice failed for volume "v" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name d.example.com not found in the list of registered CSI drivers',
  },
  {
    what: 'another driver on the node, and a device',
    drivers: [],
    attachRequired: false,
    volume: { volumeMode: 'Block' },
    expected:
      'FailedMount MapVolume.SetUpDevice failed for volume "v" : kubernetes.io/csi: blockMapper.SetUpDevice failed to get CSI client: driver name d.example.com not found in the list of registered CSI drivers',
  },
  {
    what: 'an inline volume of a driver that is not on the node',
    drivers: [],
    pod: { volumes: [{ name: 'keys', csi: { driver: 'keys.example.com' } }] },
    expected:
      'FailedMount MountVolume.SetUp failed for volume "keys" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name keys.example.com not found in the list of registered CSI drivers',
  },
  {
    what: 'a volume without a driver on a node without drivers',
    drivers: [],
    volume: { hostPath: { path: '/a' } },
    expected: 'ready unannotated',
  },
];

test.each(cases)('a pod with $what', (given) => {
  expect(summarize(viewOf(given))).toBe(given.expected);
});
