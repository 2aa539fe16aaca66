import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { type CsiMethodName, type CsiReply, type CsiRequest, csiMethods } from '../csi-methods.ts';
import { checkReply } from './reply-checks.ts';

interface Case {
  readonly method: CsiMethodName;
  readonly request?: object;
  readonly reply: object;
  /** None: the reply is right. */
  readonly problem?: string;
}

const range = { capacityRange: { requiredBytes: 10n, limitBytes: 20n } };
const volume = { volumeId: 'v' };
const segments = (pairs: object) => ({
  volume: { ...volume, accessibleTopology: [{}, { segments: pairs }] },
});
const snapshot = { type: { case: 'snapshot', value: { snapshotId: 's' } } };

const cases: readonly Case[] = [
  { method: 'GetPluginInfo', reply: { name: 'a.b', vendorVersion: '1' } },
  { method: 'GetPluginInfo', reply: { name: 'a.b' }, problem: 'vendor_version: must not be empty' },
  { method: 'CreateVolume', reply: {}, problem: 'volume: is missing' },
  { method: 'CreateVolume', reply: { volume: {} }, problem: 'volume.volume_id: must not be empty' },
  {
    method: 'CreateVolume',
    reply: { volume: { volumeId: 'x'.repeat(3000) } },
    problem: 'volume.volume_id: has 3000 bytes',
  },
  { method: 'CreateVolume', reply: { volume: { volumeId: 'x'.repeat(300) } } },
  { method: 'CreateVolume', request: range, reply: { volume } },
  { method: 'CreateVolume', request: range, reply: { volume: { ...volume, capacityBytes: 20n } } },
  {
    method: 'CreateVolume',
    reply: { volume: { ...volume, capacityBytes: -1n } },
    problem: 'volume.capacity_bytes: must not be negative, but is -1',
  },
  {
    method: 'CreateVolume',
    request: range,
    reply: { volume: { ...volume, capacityBytes: 9n } },
    problem: 'volume.capacity_bytes: is 9, below the required_bytes 10 of the request',
  },
  {
    method: 'CreateVolume',
    request: range,
    reply: { volume: { ...volume, capacityBytes: 21n } },
    problem: 'volume.capacity_bytes: is 21, above the limit_bytes 20 of the request',
  },
  { method: 'CreateVolume', reply: segments({ 'topology.example.com/node': 'n1' }) },
  {
    method: 'CreateVolume',
    reply: segments({ 'a b': 'n1' }),
    problem: 'accessible_topology[1].segments["a b"]: the key',
  },
  {
    method: 'CreateVolume',
    reply: segments({ a: 'n 1' }),
    problem: 'the value "n 1" is not a valid label value',
  },
  { method: 'CreateVolume', reply: segments({ a: '' }), problem: 'the value "" is not' },
  {
    method: 'CreateVolume',
    reply: segments({ a: '1', A: '2' }),
    problem: 'the key differs from a only in case',
  },
  {
    method: 'CreateVolume',
    request: { volumeContentSource: snapshot },
    reply: { volume },
    problem: 'volume.content_source: must be a snapshot as in the request, but is missing',
  },
  {
    method: 'CreateVolume',
    request: { volumeContentSource: snapshot },
    reply: { volume: { ...volume, contentSource: snapshot } },
  },
  {
    method: 'GetCapacity',
    reply: { availableCapacity: -1n },
    problem: 'available_capacity: must not be negative',
  },
  {
    method: 'GetCapacity',
    reply: { maximumVolumeSize: -1n },
    problem: 'maximum_volume_size: must not be negative',
  },
  {
    method: 'GetCapacity',
    reply: { minimumVolumeSize: -1n },
    problem: 'minimum_volume_size: must not be negative',
  },
  { method: 'GetCapacity', reply: { availableCapacity: 2n ** 63n - 1n, maximumVolumeSize: 0n } },
  {
    method: 'ControllerExpandVolume',
    request: range,
    reply: {},
    problem: 'capacity_bytes: must be positive',
  },
  {
    method: 'ControllerExpandVolume',
    request: range,
    reply: { capacityBytes: 9n },
    problem: 'below the required_bytes',
  },
  { method: 'NodeExpandVolume', request: range, reply: {} },
  {
    method: 'NodeExpandVolume',
    request: range,
    reply: { capacityBytes: 9n },
    problem: 'below the required_bytes',
  },
  { method: 'ListVolumes', reply: { entries: [{ volume }, {}] }, problem: 'entries[1].volume: is missing' },
  {
    method: 'ListVolumes',
    reply: { entries: [{ volume: {} }] },
    problem: 'entries[0].volume.volume_id: must not be empty',
  },
  {
    method: 'ListVolumes',
    request: { maxEntries: 1 },
    reply: { entries: [{ volume }, { volume }] },
    problem: 'more than the max_entries 1',
  },
  { method: 'NodeGetInfo', reply: {}, problem: 'node_id: must not be empty' },
  {
    method: 'NodeGetInfo',
    reply: { nodeId: 'n'.repeat(257) },
    problem: 'node_id: has 257 bytes; at most 256',
  },
  {
    method: 'NodeGetInfo',
    reply: { nodeId: 'n', maxVolumesPerNode: -1n },
    problem: 'max_volumes_per_node: must not be',
  },
  {
    method: 'NodeGetInfo',
    reply: { nodeId: 'n', accessibleTopology: { segments: { '/': 'x' } } },
    problem: 'accessible_topology.segments',
  },
  { method: 'NodeGetVolumeStats', reply: { usage: [{ total: 1n }] }, problem: 'usage[0].unit: is missing' },
  {
    method: 'NodeGetVolumeStats',
    reply: { usage: [{ unit: 1, used: -1n }] },
    problem: 'usage[0].used: must not be negative',
  },
];

test.each(cases)('$method with $reply: $problem', ({ method, request = {}, reply, problem }) => {
  const { rpc } = csiMethods[method];
  const check = () =>
    checkReply(
      method,
      create(rpc.output, reply as never) as CsiReply<typeof method>,
      create(rpc.input, request as never) as CsiRequest<typeof method>,
    );
  if (problem === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(problem);
});
