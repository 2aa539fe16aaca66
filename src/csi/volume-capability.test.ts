import { expect, test } from 'vitest';
import type { PersistentVolumeAccessMode } from '../kube/api/core.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from './generated/csi.ts';
import { capabilityOfVolume, csiAccessMode } from './volume-capability.ts';

test.each<[readonly PersistentVolumeAccessMode[], Mode, Mode]>([
  [['ReadWriteOnce'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER],
  [['ReadWriteOncePod'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_SINGLE_WRITER],
  [['ReadOnlyMany'], Mode.MULTI_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY],
  [['ReadWriteOnce', 'ReadWriteMany'], Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER],
])('%j', (modes, plain, distinguished) => {
  expect(csiAccessMode(modes, false)).toBe(plain);
  expect(csiAccessMode(modes, true)).toBe(distinguished);
});

test.each<[readonly PersistentVolumeAccessMode[], string]>([
  [[], 'no access mode for []'],
  [['ReadOnlyMany', 'ReadWriteOnce'], 'both ReadOnlyMany and ReadWriteOnce'],
  [['ReadWriteOncePod', 'ReadWriteOnce'], 'ReadWriteOncePod cannot be combined'],
])('%j is refused', (modes, problem) => {
  expect(() => csiAccessMode(modes, false)).toThrow(problem);
});

const driver = { hasControllerCapability: () => false };

test('a volume is mounted with its file system and options, or used as a device', () => {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    mountOptions: ['noatime'],
    csi: { driver: 'd', fsType: 'xfs' },
  } as const;
  const accessMode = { mode: Mode.SINGLE_NODE_WRITER };
  expect(capabilityOfVolume(spec, driver)).toEqual({
    accessMode,
    accessType: { case: 'mount', value: { fsType: 'xfs', mountFlags: ['noatime'] } },
  });
  expect(capabilityOfVolume({ ...spec, volumeMode: 'Block' }, driver)).toEqual({
    accessMode,
    accessType: { case: 'block', value: {} },
  });
});
