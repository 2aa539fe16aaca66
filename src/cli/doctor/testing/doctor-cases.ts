import { ownDefinitions } from '../../../embedded/own-definitions.ts';
import {
  claim,
  csiDriver,
  drive,
  driverCapacity,
  gib,
  localVolume,
  node,
  pod,
  pool,
  storageCapacity,
  storageClass,
  volume,
} from '../../../engine/testing/objects.ts';
import type { CustomResourceDefinition } from '../../../kube/api/apiextensions.ts';
import { annotations } from '../../../kube/well-known.ts';
import { at, condition, type DoctorCase, factsOf, leaseOf, nowMs, schedulerLease } from './cluster-facts.ts';
import { componentCases } from './component-cases.ts';

const minutesMs = 60_000;
// Safe: the definitions are objects of this kind.
export const ownKinds = (await ownDefinitions()) as unknown as readonly CustomResourceDefinition[];

const twoNodes = [node('n1', { host: 'n1' }), node('n2', { host: 'n2' })];
const waiting = { volumeBindingMode: 'WaitForFirstConsumer' } as const;
const classOf = (provisioner: string, rest = {}) =>
  storageClass('fast', { provisioner, ...waiting, ...rest });
const registered = (name: string, topologyKeys: readonly string[] = ['host']) => [
  { metadata: { name: 'n1' }, spec: { drivers: [{ name, nodeID: 'n1', topologyKeys }] } },
];
const pendingPod = (schedulerName: string, ageMs: number, conditions: readonly object[] = []) => {
  const made = pod('p', []);
  return {
    ...made,
    metadata: { ...made.metadata, creationTimestamp: at(nowMs - ageMs) },
    spec: { ...made.spec, schedulerName },
    status: { conditions },
  };
};
const event = (reportingInstance: string, second: number) => ({
  metadata: { name: `e${second}` },
  reportingController: 'default-scheduler',
  reportingInstance,
  eventTime: at(nowMs + second * 1000),
});
interface OlderDefinition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: SchemaNode } }[];
  };
}
interface SchemaNode {
  readonly properties: Record<string, SchemaNode>;
}
/** As an older version had it, without a field. */
const without = (definition: CustomResourceDefinition) => {
  const older = structuredClone(definition) as unknown as OlderDefinition;
  delete older.spec.versions[0]?.schema.openAPIV3Schema.properties.spec?.properties.filesystemUUID;
  return older as unknown as CustomResourceDefinition;
};
const notEstablished = (definition: CustomResourceDefinition) => ({
  ...definition,
  status: { conditions: [condition('Established', 'False')] },
});
const drives = ownKinds.find(({ metadata }) => metadata?.name === 'drives.stowage.dev')!;

/** The problems of a cluster, and the findings of the doctor. */
export const doctorCases: readonly DoctorCase[] = [
  {
    name: 'a version that is too old',
    facts: factsOf({}, { server: { url: 'u', version: 'v1.33.9', isEmbedded: false } }),
    finds: ['error UnsupportedVersion u'],
  },
  {
    name: 'a version that is newer than what was tested',
    facts: factsOf({}, { server: { url: 'u', version: 'v1.37.0+vendor', isEmbedded: false } }),
    finds: ['warning UntestedVersion u'],
  },
  {
    name: 'gates of the API server',
    facts: factsOf(
      {},
      {
        gates: {
          value: new Map([
            ['WatchList', false],
            ['VolumeAttributesClass', true],
          ]),
        },
      },
    ),
    finds: ['info FeatureGate https://cluster'],
  },
  {
    name: 'a local clock that is behind',
    facts: factsOf(
      {},
      {
        clock: { value: { serverMs: nowMs + 20_000, localMs: nowMs, toleranceMs: 500 } },
      },
    ),
    finds: ['warning ClockSkew https://cluster'],
  },
  {
    name: 'a node whose clock is ahead',
    facts: factsOf({ nodeLeases: [leaseOf('n7', { agoMs: -90_000 }), leaseOf('n8')] }),
    finds: ['error ClockSkew n7'],
  },
  {
    name: 'an empty cluster',
    facts: factsOf({ definitions: [] }),
    finds: ['info NotInstalled https://cluster'],
  },
  {
    name: 'a missing definition',
    facts: factsOf({ definitions: ownKinds.slice(1) }, { ownDefinitions: ownKinds }),
    finds: [`error DefinitionsMissing ${ownKinds[0]!.metadata!.name}`],
  },
  {
    name: 'a class of ours without definitions',
    facts: factsOf(
      { definitions: [], classes: [classOf('drives.stowage.dev')] },
      { ownDefinitions: [drives] },
    ),
    finds: ['error DefinitionsMissing drives.stowage.dev'],
  },
  {
    name: 'an older definition',
    facts: factsOf({ definitions: [without(drives)] }, { ownDefinitions: [drives] }),
    finds: ['error DefinitionOutdated drives.stowage.dev'],
  },
  {
    name: 'a definition that is not served',
    facts: factsOf({ definitions: [notEstablished(drives)] }, { ownDefinitions: [drives] }),
    finds: ['error DefinitionNotEstablished drives.stowage.dev'],
  },
  {
    name: 'missing rights',
    facts: factsOf(
      {},
      {
        missingCallerRights: { value: ['create clusterroles'] },
        accounts: { value: [{ namespace: 'kube-system', name: 'stowage', missing: ['patch pods'] }] },
      },
    ),
    finds: ['error ComponentLacksRights stowage', 'info CallerLacksRights https://cluster'],
  },
  ...componentCases,
  {
    name: 'pods of our scheduler, which does not run',
    facts: factsOf({ pendingPods: [pendingPod('stowage', 1_000)] }),
    finds: ['error SchedulerNotRunning stowage'],
  },
  {
    name: 'pods of our scheduler, which runs',
    facts: factsOf({
      pendingPods: [pendingPod('stowage', 1_000)],
      leases: [schedulerLease('stowage')],
    }),
    finds: [],
  },
  {
    name: 'pods of a scheduler that has never reported',
    facts: factsOf({
      pendingPods: [
        pendingPod('volcano', 5 * minutesMs),
        pendingPod('yunikorn', 5 * minutesMs, [condition('PodScheduled', 'False')]),
        pendingPod('just-created', 1_000),
      ],
    }),
    finds: ['error SchedulerNotRunning volcano'],
  },
  {
    name: 'two schedulers of one name',
    facts: factsOf({
      leases: [schedulerLease('stowage,default-scheduler'), leaseOf('kube-scheduler')],
    }),
    finds: ['error TwoSchedulers default-scheduler'],
  },
  {
    name: 'two schedulers that take turns',
    facts: factsOf({
      schedulingEvents: [event('a', 1), event('b', 2), event('a', 3), event('b', 4)],
    }),
    finds: ['warning TwoSchedulers default-scheduler'],
  },
  {
    name: 'a leader that changed',
    facts: factsOf({
      schedulingEvents: [event('a', 1), event('a', 2), event('b', 3), event('b', 4)],
    }),
    finds: [],
  },
  {
    name: 'a local driver without capacity',
    facts: factsOf({
      drivers: [csiDriver('d', {})],
      classes: [classOf('d')],
      csiNodes: registered('d'),
    }),
    finds: ['warning DriverWithoutCapacity d'],
  },
  {
    name: 'a driver whose volumes every node reaches, without capacity',
    facts: factsOf({
      drivers: [csiDriver('d', {})],
      classes: [classOf('d')],
      csiNodes: registered('d', []),
    }),
    finds: [],
  },
  {
    name: 'a driver on no node that publishes nothing',
    facts: factsOf({ drivers: [csiDriver('d')], classes: [classOf('d')] }),
    finds: ['error CapacityMissing fast', 'warning DriverNotRegistered d'],
  },
  {
    name: 'classes that bind immediately',
    facts: factsOf({
      classes: [
        storageClass('zonal', { provisioner: 'd', volumeBindingMode: 'Immediate' }),
        storageClass('by-hand', { volumeBindingMode: 'Immediate' }),
        storageClass('anywhere', { provisioner: 'nfs', volumeBindingMode: 'Immediate' }),
      ],
      csiNodes: registered('d'),
      claims: [claim('c', '1Gi', { className: 'zonal' })],
    }),
    finds: ['warning ClassBindsImmediately zonal', 'warning ClassBindsImmediately by-hand'],
  },
  {
    name: 'volumes without node affinity',
    facts: factsOf({
      nodes: twoNodes,
      csiNodes: registered('d'),
      volumes: [
        localVolume('fine', '1Gi', 'n1'),
        { metadata: { name: 'local' }, spec: { local: { path: '/x' } } },
        { metadata: { name: 'host' }, spec: { hostPath: { path: '/x' } } },
        { metadata: { name: 'csi' }, spec: { csi: { driver: 'd', volumeHandle: 'h' } } },
        { metadata: { name: 'shared' }, spec: { csi: { driver: 'nfs', volumeHandle: 'h' } } },
        volume('nfs', '1Gi', { spec: { nfs: { server: 's', path: '/' } } } as never),
      ],
    }),
    finds: [
      'error VolumeWithoutNodeAffinity local',
      'error VolumeWithoutNodeAffinity csi',
      'warning VolumeWithoutNodeAffinity host',
    ],
  },
  {
    name: 'old and expired figures',
    facts: factsOf({
      leases: [
        leaseOf('stowage-capacity-quiet'),
        leaseOf('stowage-capacity-dead', { holder: 'a', agoMs: 40 * minutesMs }),
      ],
      capacities: [
        {
          ...storageCapacity('old', 'fast'),
          metadata: { name: 'old', annotations: { [annotations.measuredAt]: at(nowMs - 30 * minutesMs) } },
        },
        {
          ...storageCapacity('new', 'fast'),
          metadata: { name: 'new', annotations: { [annotations.measuredAt]: at(nowMs - minutesMs) } },
        },
        publishedBy('stowage-capacity-quiet', 'quiet'),
        publishedBy('stowage-capacity-quiet', 'hung', { [annotations.capacityProblem]: 'no answer' }),
        publishedBy('stowage-capacity-dead', 'dead'),
        publishedBy('stowage-capacity-unread', 'unknown'),
      ],
      driverCapacities: [
        driverCapacity('expired', [
          { storageClassName: 'a', pools: [pool('p', '1Gi', { expiryTime: at(nowMs - 1) })] },
        ]),
        driverCapacity('lasting', [
          { storageClassName: 'a', pools: [pool('p', '1Gi', { expiryTime: at(nowMs + minutesMs) })] },
        ]),
        { metadata: { name: 'unfresh' }, status: { conditions: [condition('Fresh', 'False')] } },
      ],
    }),
    finds: [
      'error LeaderGone stowage-capacity-dead',
      'warning CapacityStale old',
      'warning CapacityStale hung',
      'warning CapacityStale dead',
      'warning CapacityStale unknown',
      'warning CapacityExpired expired',
      'warning CapacityStale unfresh',
    ],
  },
  {
    name: 'drives in a bad state',
    facts: factsOf({
      nodes: [node('n1')],
      drives: [
        drive('fine', 100, { node: 'n1' } as never),
        { metadata: { name: 'lost' }, spec: { nodeName: 'n1' }, status: { state: 'Lost' } },
        {
          metadata: { name: 'differs' },
          spec: { nodeName: 'n1' },
          status: { state: 'Ready', conditions: [condition('LedgerMatches', 'False')] },
        },
        {
          metadata: { name: 'full' },
          spec: { nodeName: 'n1', volumes: [{ name: 'v', sizeBytes: gib(2) }] },
          status: { state: 'Ready', capacityBytes: gib(1) },
        },
        { metadata: { name: 'alone' }, spec: { nodeName: 'n9' }, status: { state: 'Removing' } },
      ],
    }),
    finds: [
      'error DriveNotReady lost',
      'error DriveOverCommitted full',
      'error DriveNodeGone alone',
      'warning DriveLedgerDiffers differs',
    ],
  },
  {
    name: 'disks in a bad state',
    facts: factsOf({
      storageNodes: [
        { metadata: { name: 'silent' } },
        {
          metadata: { name: 'n1' },
          status: {
            conditions: [condition('Ready', 'True')],
            diskStatus: { d1: { conditions: [condition('OrphanedData', 'True')] } },
          },
        },
      ],
      diskSchedules: [
        {
          metadata: { name: 'gone' },
          spec: { name: 'd1', nodeID: 'n1' },
          status: { conditions: [condition('Ready', 'False', 'DiskNotReady')] },
        },
        {
          metadata: { name: 'over' },
          spec: { name: 'd2', nodeID: 'n1' },
          status: {
            conditions: [condition('Ready', 'True'), condition('Schedulable', 'False', 'OverCommitted')],
          },
        },
        {
          metadata: { name: 'closed' },
          status: { conditions: [condition('Schedulable', 'False', 'SchedulingDisabled')] },
        },
      ],
      diskVolumes: [
        { metadata: { name: 'lost' }, status: { robustness: 'faulted' } },
        { metadata: { name: 'single' }, status: { robustness: 'degraded' } },
        { metadata: { name: 'sound' }, status: { robustness: 'healthy' } },
        { metadata: { name: 'new' } },
      ],
    }),
    finds: [
      'error StorageNodeNotReady silent',
      'error DiskNotReady gone',
      'error VolumeFaulted lost',
      'warning DiskOverCommitted over',
      'warning VolumeDegraded single',
      'info DiskOrphanedData n1',
    ],
  },
];

/** A figure that was measured half an hour ago, by a publisher with this Lease. */
function publishedBy(lease: string, name: string, more: Readonly<Record<string, string>> = {}) {
  const measured = { [annotations.measuredAt]: at(nowMs - 30 * minutesMs) };
  const named = { [annotations.publisherLease]: `kube-system/${lease}` };
  return {
    ...storageCapacity(name, 'fast'),
    metadata: { name, annotations: { ...measured, ...named, ...more } },
  };
}
