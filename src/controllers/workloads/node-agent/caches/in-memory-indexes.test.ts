import { expect, test } from 'vitest';
import type { Pod } from '../../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../../kube/api/storage.ts';
import { AttachmentIndex } from './attachment-index.ts';
import { PodAddresses } from './pod-addresses.ts';
import { PodsByNodeAndClaim } from './pods-by-node-and-claim.ts';

function pod(uid: string, podIP?: string): Pod {
  const volumes = [
    { name: 'disk', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'tmp', ephemeral: {} },
  ];
  return {
    metadata: { namespace: 'default', name: uid, uid },
    spec: { nodeName: 'n1', volumes },
    status: { phase: 'Running', ...(podIP === undefined ? {} : { podIP }) },
  };
}

test('no two pods have the same address, and existing addresses are not reused', () => {
  const addresses = new PodAddresses();
  addresses.note(pod('old', '10.128.0.2'));
  const given = ['a', 'b', 'c'].map((uid) => addresses.take(pod(uid)));
  expect(given).toEqual(['10.128.0.1', '10.128.0.3', '10.128.0.4']);
});

test('a pod keeps its address, and the address is reused only after a full round', () => {
  const addresses = new PodAddresses();
  const first = addresses.take(pod('a'));
  expect(addresses.take(pod('a'))).toBe(first);
  addresses.forget(pod('a'));
  expect(addresses.take(pod('b'))).not.toBe(first);
});

test('a finished pod has no address', () => {
  const addresses = new PodAddresses();
  const first = addresses.take(pod('a'));
  addresses.note({ ...pod('a', first), status: { phase: 'Succeeded' } });
  expect(addresses.take(pod('a'))).not.toBe(first);
});

function attachment(name: string, uid?: string): VolumeAttachment {
  return {
    metadata: { name, ...(uid === undefined ? {} : { uid }) },
    spec: { attacher: 'd', nodeName: 'n1', source: { persistentVolumeName: `v-${name}` } },
  };
}

test('an attachment counts from its decision, until it is given up or gone', () => {
  const index = new AttachmentIndex();
  index.put(attachment('a'));
  expect(index.count('n1', 'd')).toBe(1);
  index.put(attachment('a', 'u1'));
  expect([index.count('n1', 'd'), index.count('n1', 'e'), index.count('n2', 'd')]).toEqual([1, 0, 0]);
  index.giveUp('a');
  expect(index.ofVolume('v-a')).toHaveLength(1);
  index.drop('a');
  index.put(attachment('b'));
  index.giveUp('b');
  expect([index.count('n1', 'd'), index.ofVolume('v-a'), index.ofVolume('v-b')]).toEqual([0, [], []]);
});

test('pods are found by node and by claim, until they are gone', () => {
  const index = new PodsByNodeAndClaim();
  index.note(pod('a'));
  expect([...index.onNode('n1')]).toEqual(['default/a']);
  expect([...index.ofClaim('default/data')]).toEqual(['default/a']);
  expect([...index.ofClaim('default/a-tmp')]).toEqual(['default/a']);
  const { metadata, ...rest } = pod('a');
  const deletion = { deletionTimestamp: '2025-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  index.forget({ ...rest, metadata: { ...metadata, ...deletion } });
  expect(['default/data', 'default/a-tmp'].map((key) => index.ofClaim(key).size)).toEqual([0, 0]);
  expect(index.onNode('n1').size).toBe(0);
});
