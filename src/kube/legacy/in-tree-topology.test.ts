import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, PersistentVolume, PersistentVolumeSource } from '../api/core.ts';
import type { StringMap } from '../api/meta.ts';
import { migrateNodeAffinity } from './in-tree-topology.ts';

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const gkeZone = 'topology.gke.io/zone';
const gce: PersistentVolumeSource = { gcePersistentDisk: { pdName: 'd' } };

function termsOf(volume: PersistentVolume): readonly NodeSelectorTerm[] | undefined {
  return migrateNodeAffinity(volume)?.required?.nodeSelectorTerms;
}

describe('the node affinity of a migrated volume', () => {
  test.each<[string, readonly NodeSelectorTerm[], StringMap, readonly NodeSelectorTerm[]]>([
    ['moves a zone to the key of the driver', [term([zone, 'b'])], {}, [term([gkeZone, 'b'])]],
    ['moves a beta zone, too', [term([betaZone, 'b'])], {}, [term([gkeZone, 'b'])]],
    [
      'keeps the other expressions',
      [term([zone, 'b'], ['rack', 'a'])],
      {},
      [term([gkeZone, 'b'], ['rack', 'a'])],
    ],
    [
      'moves the zone in all terms',
      [term([zone, 'b']), term([zone, 'c'])],
      {},
      [term([gkeZone, 'b']), term([gkeZone, 'c'])],
    ],
    [
      'lets a beta zone be beside a zone of today',
      [term([zone, 'b'], [betaZone, 'b'])],
      {},
      [term([gkeZone, 'b'], [betaZone, 'b'])],
    ],
    [
      'moves a beta region to its name of today',
      [term([betaZone, 'b'], [betaRegion, 'r'])],
      {},
      [term([gkeZone, 'b'], [region, 'r'])],
    ],
    ['prefers the affinity to the labels', [term([zone, 'b'])], { [zone]: 'c' }, [term([gkeZone, 'b'])]],
    ['comes from the zone label where there is none', [], { [zone]: 'b' }, [term([gkeZone, 'b'])]],
    ['comes from the beta zone label', [], { [betaZone]: 'b' }, [term([gkeZone, 'b'])]],
    ['lists several zones once each, in order', [], { [zone]: 'c__b__ c ____' }, [term([gkeZone, 'b', 'c'])]],
    [
      'adds the zone label to every term',
      [term(['rack', 'a']), {}],
      { [zone]: 'b' },
      [term(['rack', 'a'], [gkeZone, 'b']), term([gkeZone, 'b'])],
    ],
    ['stays as it is without any zone', [term(['rack', 'a'])], { [region]: 'r' }, [term(['rack', 'a'])]],
    ['stays as it is with an empty zone label', [term(['rack', 'a'])], { [zone]: '' }, [term(['rack', 'a'])]],
  ])('%s', (_name, nodeSelectorTerms, labels, expected) => {
    const volume = {
      metadata: { labels },
      spec: { ...gce, nodeAffinity: { required: { nodeSelectorTerms } } },
    };
    expect(termsOf(volume)).toEqual(expected);
  });

  test.each<[string, PersistentVolumeSource]>([
    ['an Azure disk, as in Kubernetes', { azureDisk: { diskURI: 'd' } }],
    ['a Portworx volume', { portworxVolume: { volumeID: 'p' } }],
    ['a volume that was never in-tree', { csi: { driver: 'x' } }],
  ])('is that of the volume itself for %s', (_name, source) => {
    const nodeAffinity = { required: { nodeSelectorTerms: [term([zone, 'b'])] } };
    expect(migrateNodeAffinity({ spec: { ...source, nodeAffinity } })).toBe(nodeAffinity);
  });

  test.each<[PersistentVolumeSource, string]>([
    [{ awsElasticBlockStore: { volumeID: 'vol-1' } }, 'topology.ebs.csi.aws.com/zone'],
    [{ cinder: { volumeID: 'c-1' } }, 'topology.cinder.csi.openstack.org/zone'],
  ])('of %j uses the key %s', (source, key) => {
    expect(termsOf({ metadata: { labels: { [zone]: 'b' } }, spec: source })).toEqual([term([key, 'b'])]);
  });

  test('is the same object if there is nothing to translate', () => {
    const nodeAffinity = { required: { nodeSelectorTerms: [term([region, 'r'])] } };
    expect(migrateNodeAffinity({ spec: { ...gce, nodeAffinity } })).toBe(nodeAffinity);
  });

  test('is absent where there is neither affinity nor zone', () => {
    expect(migrateNodeAffinity({ spec: gce })).toBeUndefined();
  });

  test('does not change the volume', () => {
    const volume = {
      spec: { ...gce, nodeAffinity: { required: { nodeSelectorTerms: [term([zone, 'b'])] } } },
    };
    const copy = structuredClone(volume);
    migrateNodeAffinity(volume);
    expect(volume).toEqual(copy);
  });
});

function term(...expressions: readonly (readonly string[])[]): NodeSelectorTerm {
  return { matchExpressions: expressions.map(([key = '', ...values]) => ({ key, operator: 'In', values })) };
}
