import { expect, test } from 'vitest';
import { diskVolumeSpec, readDiskClass } from './disk-class.ts';

test('a class without parameters has the defaults of a Volume', () => {
  expect(readDiskClass({})).toEqual({
    ok: true,
    value: {
      numberOfReplicas: 3,
      nodeSelector: [],
      diskSelector: [],
      antiAffinity: { node: 'hard', zone: 'soft', disk: 'soft' },
      backingImage: undefined,
      fsType: undefined,
    },
  });
});

test('every parameter is part of the spec of a Volume', () => {
  const read = readDiskClass({
    numberOfReplicas: '2',
    nodeSelector: 'storage',
    diskSelector: 'ssd, fast,ssd',
    backingImage: 'debian-13',
    antiAffinityNode: 'soft',
    antiAffinityZone: 'hard',
    antiAffinityDisk: 'hard',
    'csi.storage.k8s.io/fstype': 'ext4',
  });
  expect(read.ok && diskVolumeSpec(read.value, 10)).toEqual({
    size: 10,
    numberOfReplicas: 2,
    nodeSelector: ['storage'],
    diskSelector: ['fast', 'ssd'],
    antiAffinity: { node: 'soft', zone: 'hard', disk: 'hard' },
    backingImage: 'debian-13',
  });
  expect(read.ok && read.value.fsType).toBe('ext4');
});

test.each([
  [{ replicas: '2' }, 'parameter replicas is unknown; must be one of numberOfReplicas, nodeSelector'],
  [{ constructor: '2' }, 'parameter constructor is unknown'],
  [{ numberOfReplicas: '0' }, 'parameter numberOfReplicas: "0" must be a number from 1 to 20'],
  [{ numberOfReplicas: '2.5' }, 'must be a number from 1 to 20'],
  [{ numberOfReplicas: '21' }, 'must be a number from 1 to 20'],
  [
    { diskSelector: 'ssd,,fast' },
    'parameter diskSelector: "ssd,,fast" must be tags that are separated by commas',
  ],
  [{ antiAffinityNode: 'Hard' }, 'parameter antiAffinityNode: "Hard" must be hard or soft'],
  [{ backingImage: 'Debian' }, 'parameter backingImage: "Debian" must be the name of a BackingImage'],
])('%j is a problem', (parameters, problem) => {
  const read = readDiskClass(parameters as Readonly<Record<string, string>>);
  expect(read.ok ? '' : read.problem).toContain(problem);
});
