import { expect, test } from 'vitest';
import { demandOf } from './claim-demand.ts';

const provisioner = 'zonal.stowage.dev';
const waiting = { metadata: { name: 'c' }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' } as const;

function claim(annotations: Readonly<Record<string, string>> = {}) {
  const all = { 'volume.kubernetes.io/storage-provisioner': provisioner, ...annotations };
  return {
    metadata: { namespace: 'default', name: 'data', annotations: all },
    spec: { storageClassName: 'c' },
  };
}

test('a claim of a WaitForFirstConsumer class is provisioned once a node is selected', () => {
  expect(demandOf(claim(), waiting)).toBeUndefined();
  const selected = claim({ 'volume.kubernetes.io/selected-node': 'n1' });
  expect(demandOf(selected, waiting)).toEqual({ provisioner, node: 'n1' });
});

test('without volume scheduling it is provisioned at once', () => {
  expect(demandOf(claim(), waiting, { volumeScheduling: false })).toEqual({ provisioner, node: '' });
});
