import { expect, test } from 'vitest';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import { replicaOrigin } from './replica-origin.ts';

const replica: Replica = { metadata: { name: 'new', uid: 'u0' }, spec: { volumeName: 'v', diskID: 'a' } };
const nodes: readonly StorageNode[] = [
  {
    status: {
      upload: { url: 'https://b:1', certificateSHA256: 'f'.repeat(64) },
      diskStatus: { d: { diskUUID: 'b', conditions: [{ type: 'Ready', status: 'True' }] } },
    },
  },
];

function sibling(diskID: string, status: Replica['status']): Replica {
  return {
    metadata: { name: `on ${diskID}`, uid: diskID },
    spec: { volumeName: 'v', diskID },
    ...(status && { status }),
  };
}

function origin(
  siblings: readonly Replica[],
  image?: BackingImage | 'unknown',
  volume?: Pick<DiskVolume, 'metadata' | 'status'>,
) {
  return replicaOrigin({
    replica,
    volume,
    siblings: [replica, ...siblings],
    image: image === undefined ? undefined : { name: 'i', object: image === 'unknown' ? undefined : image },
    nodes,
    isOwnDisk: (uuid) => uuid === 'a' || uuid === 'c',
  });
}

test('without data anywhere a replica begins empty', () => {
  expect(origin([])).toEqual({ kind: 'empty' });
  expect(origin([sibling('b', {})])).toEqual({ kind: 'empty' });
});

test('it begins with the data of a healthy replica, the nearest first', () => {
  const remote = sibling('b', { healthyAt: 'x' });
  const near = sibling('c', { healthyAt: 'x' });
  expect(origin([remote])).toMatchObject({ kind: 'agent', replicaName: 'on b' });
  expect(origin([remote, near])).toEqual({ kind: 'local', replicaName: 'on c', diskUUID: 'c' });
});

test('the data of a deleted volume of the same name is none of its own', () => {
  const ownedBy = (uid: string, { metadata, ...rest }: Replica): Replica => ({
    ...rest,
    metadata: {
      ...metadata,
      ownerReferences: [
        { apiVersion: 'stowage.dev/v1alpha1', kind: 'Volume', name: 'v', uid, controller: true },
      ],
    },
  });
  const near = sibling('c', { healthyAt: 'x' });
  const originOf = (other: Replica) =>
    replicaOrigin({
      replica: ownedBy('new', replica),
      volume: undefined,
      siblings: [other],
      image: undefined,
      nodes,
      isOwnDisk: () => true,
    });
  expect(originOf(ownedBy('old', near))).toEqual({ kind: 'empty' });
  expect(originOf(ownedBy('new', near))).toMatchObject({ kind: 'local' });
});

test('it never begins with less than others have', () => {
  expect(origin([sibling('b', { healthyAt: 'x', failedAt: 'y' })])).toMatchObject({ kind: 'wait' });
  expect(origin([sibling('gone', { healthyAt: 'x' })])).toMatchObject({ kind: 'wait' });
  const image: BackingImage = { status: { diskFileStatusMap: { a: { state: 'ready' } } } };
  expect(origin([sibling('gone', { healthyAt: 'x' })], image)).toMatchObject({ kind: 'wait' });
});

test('the first replica begins with the image of its volume, once a copy is ready here', () => {
  const withCopy = (state: 'ready' | 'in-progress', uuid: string): BackingImage => ({
    status: { diskFileStatusMap: { [uuid]: { state } } },
  });
  expect(origin([], withCopy('ready', 'c'))).toEqual({ kind: 'image', imageName: 'i', diskUUID: 'c' });
  expect(origin([], withCopy('in-progress', 'a'))).toMatchObject({ kind: 'wait' });
  expect(origin([], withCopy('ready', 'b'))).toMatchObject({ kind: 'wait' });
  expect(origin([], 'unknown')).toMatchObject({ kind: 'wait' });
});

test('a replica of a volume that lost its data waits until a user has given the data up', () => {
  const faultedAt = '2026-01-01T00:00:00Z';
  const status = { robustness: 'faulted', faultedAt } as const;
  const accepted = { metadata: { annotations: { 'stowage.dev/accept-data-loss': faultedAt } }, status };
  const deleting = {
    ...sibling('b', { healthyAt: 'x', failedAt: 'y' }),
    metadata: { deletionTimestamp: 'z' },
  };
  expect(origin([], undefined, { status })).toMatchObject({ kind: 'wait' });
  expect(origin([deleting], undefined, { status })).toMatchObject({ kind: 'wait' });
  expect(origin([deleting], undefined, accepted)).toEqual({ kind: 'empty' });
  expect(origin([], undefined, { status: { robustness: 'unknown' } })).toEqual({ kind: 'empty' });
});
