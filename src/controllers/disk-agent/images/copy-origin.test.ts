import { describe, expect, test } from 'vitest';
import type { BackingImage, BackingImageFileState } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import { copyOrigin, type OriginView } from './copy-origin.ts';

const size = 100;
const hash = 'f'.repeat(64);

function nodeWith(uuid: string, isReady = true): StorageNode {
  const conditions = [{ type: 'Ready', status: isReady ? ('True' as const) : ('False' as const) }];
  return {
    metadata: { name: `node of ${uuid}` },
    status: {
      upload: { url: `https://${uuid}:1`, certificateSHA256: hash },
      diskStatus: { d: { diskUUID: uuid, conditions } },
    },
  };
}

function imageOn(
  states: Readonly<Record<string, BackingImageFileState | undefined>>,
  source = {},
): BackingImage {
  const entries = Object.entries(states);
  return {
    metadata: { name: 'i' },
    spec: {
      source: { download: { url: 'http://x/' }, ...source },
      expectedSize: size,
      diskFileSpecMap: Object.fromEntries(entries.map(([uuid]) => [uuid, {}])),
    },
    status: {
      diskFileStatusMap: Object.fromEntries(
        entries.flatMap(([uuid, state]) => (state === undefined ? [] : [[uuid, { state }]])),
      ),
    },
  };
}

const granted: DiskSchedule = {
  spec: { backingImages: { i: size } },
  status: { backingImages: { i: { state: 'scheduled', scheduledSize: size, observedSize: size } } },
};

function view({
  nodes,
  own = [],
  replicas = [],
  refusing = [],
  volume,
}: {
  readonly nodes: readonly StorageNode[];
  readonly own?: readonly string[];
  readonly replicas?: readonly Replica[];
  readonly refusing?: readonly string[];
  readonly volume?: DiskVolume;
}): OriginView {
  return {
    volume,
    nodes: { values: () => nodes },
    replicas: { values: () => replicas } as unknown as OriginView['replicas'],
    schedules: {
      get: (uuid: string) => (refusing.includes(uuid) ? undefined : granted),
    } as unknown as OriginView['schedules'],
    isOwnDisk: (uuid) => own.includes(uuid),
  };
}

const both = [nodeWith('a'), nodeWith('b')];

test('the first of the wanted copies comes from the source, the other waits', () => {
  const image = imageOn({ a: undefined, b: undefined });
  expect(copyOrigin(image, 'a', view({ nodes: both }))).toEqual({ kind: 'download', url: 'http://x/' });
  expect(copyOrigin(image, 'b', view({ nodes: both }))).toMatchObject({ kind: 'wait' });
});

test.each([
  ['does not answer', view({ nodes: [nodeWith('a', false), nodeWith('b')] }), undefined],
  ['is not reported', view({ nodes: [nodeWith('b')] }), undefined],
  ['has not granted the bytes', view({ nodes: both, refusing: ['a'] }), undefined],
  ['failed', view({ nodes: both }), 'failed' as const],
])('if the first disk %s, the second one comes from the source', (_name, given, state) => {
  expect(copyOrigin(imageOn({ a: state, b: undefined }), 'b', given)).toMatchObject({ kind: 'download' });
});

test('a disk of a node without an agent is not the first, unless there is no other', () => {
  const { upload: _, ...status } = nodeWith('a').status ?? {};
  const withoutAgent: StorageNode = { metadata: { name: 'node of a' }, status };
  const nodes = [withoutAgent, nodeWith('b')];
  const image = imageOn({ a: undefined, b: undefined });
  expect(copyOrigin(image, 'b', view({ nodes }))).toMatchObject({ kind: 'download' });
  expect(copyOrigin(image, 'a', view({ nodes }))).toMatchObject({ kind: 'wait' });
  expect(copyOrigin(imageOn({ a: undefined }), 'a', view({ nodes }))).toMatchObject({ kind: 'download' });
});

test('a ready copy is the source: of this node, or of another agent', () => {
  const image = imageOn({ a: 'ready', b: undefined });
  const data = { kind: 'BackingImage', name: 'i' };
  expect(copyOrigin(image, 'b', view({ nodes: both, own: ['a', 'b'] }))).toEqual({
    kind: 'local',
    diskUUID: 'a',
    data,
  });
  expect(copyOrigin(image, 'b', view({ nodes: both, own: ['b'] }))).toEqual({
    kind: 'agent',
    address: { url: 'https://a:1', certificateSHA256: hash },
    data,
  });
  expect(copyOrigin(image, 'b', view({ nodes: [nodeWith('a', false), nodeWith('b')] }))).toMatchObject({
    kind: 'wait',
  });
});

describe('an image of a volume', () => {
  const image = imageOn({ a: undefined }, { download: undefined, volume: { name: 'v' } });
  const volume: DiskVolume = { metadata: { name: 'v', uid: 'second' } };
  const replica = (status: Replica['status'], diskID = 'b', owner?: string): Replica => ({
    metadata: {
      name: 'r',
      ...(owner !== undefined && {
        ownerReferences: [
          { apiVersion: 'stowage.dev/v1', kind: 'Volume', name: 'v', uid: owner, controller: true },
        ],
      }),
    },
    spec: { volumeName: 'v', diskID },
    ...(status && { status }),
  });
  const from = (each: Replica, of: Pick<Parameters<typeof view>[0], 'volume'> = { volume }) =>
    copyOrigin(image, 'a', view({ nodes: both, own: ['a'], replicas: [each], ...of }));

  test('comes from a healthy replica', () => {
    expect(from(replica({ healthyAt: 'x' }))).toMatchObject({
      kind: 'agent',
      data: { kind: 'Replica', name: 'r' },
    });
    expect(from(replica({ healthyAt: 'x' }, 'a'))).toMatchObject({ kind: 'local', diskUUID: 'a' });
    expect(from(replica({ healthyAt: 'x', failedAt: 'y' }))).toMatchObject({ kind: 'wait' });
    expect(from(replica({}))).toMatchObject({ kind: 'wait' });
  });

  test('does not come from a replica of a deleted volume of the same name', () => {
    expect(from(replica({ healthyAt: 'x' }, 'a', 'second'))).toMatchObject({ kind: 'local' });
    expect(from(replica({ healthyAt: 'x' }, 'a', 'first'))).toEqual({
      kind: 'wait',
      message: 'waits for a healthy replica of Volume v whose agent answers',
    });
    expect(from(replica({ healthyAt: 'x' }, 'a', 'first'), {})).toEqual({
      kind: 'wait',
      message: 'waits for Volume v, which does not exist',
    });
  });
});
