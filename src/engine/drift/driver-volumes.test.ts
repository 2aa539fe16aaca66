import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumePhase, Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { claim, localVolume, volume } from '../testing/objects.ts';
import { type CapacityReportOfSegment, DriverVolumes, type SegmentLabels } from './driver-volumes.ts';

const driver = 'csi.example.com';
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const created = '2026-01-01T11:00:00Z';
const gib = 1024n ** 3n;
const segments: readonly SegmentLabels[] = [
  { 'kubernetes.io/hostname': 'a1' },
  { 'kubernetes.io/hostname': 'b1' },
];

function known(): DriverVolumes {
  return new DriverVolumes({
    driver,
    servesClass: (name) => name === 'fast' || name === 'slow',
    labelsOf: (node) => (node === 'gone' ? undefined : { 'kubernetes.io/hostname': node }),
  });
}

interface VolumeOptions {
  readonly storageClassName?: string;
  readonly phase?: PersistentVolumePhase;
  readonly creationTimestamp?: string;
}

function onNode(name: string, node: string | undefined, options: VolumeOptions = {}): PersistentVolume {
  const { storageClassName = 'fast', phase = 'Bound', creationTimestamp = created } = options;
  const made = node === undefined ? volume(name, '10Gi') : localVolume(name, '10Gi', node);
  return {
    ...made,
    metadata: { name, creationTimestamp },
    spec: {
      ...made.spec,
      storageClassName,
      csi: { driver, volumeHandle: name },
      persistentVolumeReclaimPolicy: 'Delete',
    },
    status: { phase },
  };
}

function inline(name: string, fsSize: string | undefined, rest: Pod = {}): Pod {
  return {
    metadata: { namespace: 'default', name, uid: name },
    spec: { nodeName: 'a1', volumes: [{ name: 'v', csi: { driver, ...(fsSize && { fsSize }) } }] },
    ...rest,
  };
}

function at(volumes: DriverVolumes, rest: Partial<CapacityReportOfSegment> = {}, segment = segments[0]!) {
  return volumes.volumesOf(segment, { storageClass: 'fast', measuredAtMs: nowMs, segments, ...rest });
}

describe('the volumes of a segment', () => {
  test('are those that only its nodes reach, by class', () => {
    const volumes = known();
    volumes.setVolume(onNode('v1', 'a1'));
    volumes.setVolume(onNode('v2', 'a1', { storageClassName: 'slow' }));
    volumes.setVolume(onNode('v3', 'b1'));
    volumes.setVolume({ ...onNode('v4', 'a1'), spec: { csi: { driver: 'another' } } });
    expect(at(volumes)).toMatchObject({
      oursBytes: 10n * gib,
      otherClassesBytes: 10n * gib,
      unsureBytes: 0n,
      count: 2,
    });
    expect(at(volumes, {}, segments[1])).toMatchObject({ oursBytes: 10n * gib, count: 1 });
  });

  test('are not known if a volume may be in another segment', () => {
    const volumes = known();
    volumes.setVolume(onNode('v1', undefined));
    expect(at(volumes)).toBeUndefined();
    expect(at(volumes, { segments: [{}] }, {})).toMatchObject({ oursBytes: 10n * gib });
  });

  test('are not sure while they are being created, expanded or deleted', () => {
    const volumes = known();
    const withNode = (name: string, node: string) => {
      const made = claim(name, '3Gi', { className: 'fast', selectedNode: node });
      const marks = { ...made.metadata?.annotations, [annotations.storageProvisioner]: driver };
      return { ...made, metadata: { ...made.metadata, namespace: 'default', name, annotations: marks } };
    };
    volumes.setClaim(withNode('c1', 'a1'));
    volumes.setClaim(withNode('c2', 'b1'));
    volumes.setVolume(onNode('young', 'a1', { creationTimestamp: '2026-01-01T12:00:00Z' }));
    volumes.setVolume(onNode('leaving', 'a1', { phase: 'Released' }));
    expect(at(volumes)).toMatchObject({ oursBytes: 0n, unsureBytes: 23n * gib });
    volumes.setClaim({
      ...withNode('c1', 'a1'),
      status: { phase: 'Bound', capacity: { storage: '3Gi' } },
    });
    volumes.setClaim({
      ...withNode('c3', ''),
      status: { phase: 'Bound', capacity: { storage: '2Gi' } },
    });
    expect(at(volumes)).toMatchObject({ unsureBytes: 21n * gib });
    volumes.deleteClaim('default', 'c3');
    expect(at(volumes, { measuredAtMs: nowMs + 5000 })).toMatchObject({
      oursBytes: 10n * gib,
      unsureBytes: 10n * gib,
    });
  });

  test('include volumes that went after the capacity report was measured, as not sure', () => {
    const volumes = known();
    volumes.setVolume(onNode('v1', 'a1'));
    volumes.deleteVolume('v1', nowMs + 1000);
    volumes.deleteVolume('unknown', nowMs);
    expect(at(volumes)).toMatchObject({ oursBytes: 0n, unsureBytes: 10n * gib });
    expect(at(volumes, { measuredAtMs: nowMs + 2000 })).toMatchObject({ unsureBytes: 0n, count: 0 });
    expect(at(volumes, { measuredAtMs: nowMs + 3_600_000 })).toMatchObject({ unsureBytes: 0n });
    expect(at(volumes)).toMatchObject({ unsureBytes: 0n });
  });

  test('include inline volumes; one without a size makes the use unknown', () => {
    const volumes = known();
    const started = { containerStatuses: [{ name: 'c', state: { running: { startedAt: created } } }] };
    const pod = inline('p1', '4Gi', { status: started } as Pod);
    volumes.setPod(pod);
    volumes.setPod(inline('p2', '1Gi'));
    volumes.setPod({ metadata: { namespace: 'default', name: 'other' }, spec: { nodeName: 'a1' } });
    const report = { storageClass: '<ephemeral>' };
    expect(at(volumes, report)).toMatchObject({ oursBytes: 4n * gib, unsureBytes: gib });
    volumes.deletePod(pod, nowMs - 1);
    expect(at(volumes, report)).toMatchObject({ oursBytes: 0n, unsureBytes: gib });
    volumes.setPod(inline('p3', undefined));
    expect(at(volumes, report)).toBeUndefined();
  });
});
