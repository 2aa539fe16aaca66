import { expect, test } from 'vitest';
import type { ResourceClaim } from '../../../kube/api/stored/resource.ts';
import { normalize } from '../../schema/normalize.ts';
import { resourceClaimKind } from './resource-claim.ts';

const deletionTimestamp = '2024-01-02T03:04:05Z';
const allocation = { devices: { results: [] } };
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }];

test.each([
  ['pending', {}, {}],
  ['allocated', {}, { allocation }],
  ['allocated,reserved', {}, { allocation, reservedFor }],
  ['deleted', { deletionTimestamp }, {}],
  ['deleted,allocated,reserved', { deletionTimestamp }, { allocation, reservedFor }],
])('the state cell of a claim is %s', (state, metadata, status) => {
  const claim = normalize('resource.k8s.io/v1.ResourceClaim', { metadata, status }).object;
  expect(resourceClaimKind.row(claim as unknown as ResourceClaim, { nowMs: 0 })[1]).toBe(state);
});
