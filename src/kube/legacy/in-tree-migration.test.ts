import { describe, expect, test } from 'vitest';
import type { AzureDataDiskKind, PersistentVolume, PersistentVolumeSource, Volume } from '../api/core.ts';
import type { StringMap } from '../api/meta.ts';
import type { CSINode } from '../api/storage.ts';
import {
  csiDriverForProvisioner,
  migratedPlugins,
  migrateInlineVolume,
  migrateVolume,
  pluginOfVolume,
} from './in-tree-migration.ts';

describe('a volume of a migrated plugin', () => {
  test.each<[string, PersistentVolumeSource, string, string]>([
    [
      'kubernetes.io/gce-pd',
      { gcePersistentDisk: { pdName: 'disk-1' } },
      'pd.csi.storage.gke.io',
      'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk-1',
    ],
    ['kubernetes.io/aws-ebs', { awsElasticBlockStore: { volumeID: 'vol-1' } }, 'ebs.csi.aws.com', 'vol-1'],
    ['kubernetes.io/azure-disk', { azureDisk: { diskURI: '/disks/1' } }, 'disk.csi.azure.com', '/disks/1'],
    ['kubernetes.io/cinder', { cinder: { volumeID: 'c-1' } }, 'cinder.csi.openstack.org', 'c-1'],
    ['kubernetes.io/portworx-volume', { portworxVolume: { volumeID: 'p-1' } }, 'pxd.portworx.com', 'p-1'],
  ])('%s belongs to its driver, persistent or inline', (plugin, source, driver, volumeHandle) => {
    const expected = { ok: true, source: { plugin, driver, volumeHandle } };
    expect(migrateVolume({ spec: source })).toEqual(expected);
    expect(migrateInlineVolume({ name: 'v', ...source } as Volume)).toEqual(expected);
    expect(csiDriverForProvisioner(plugin)).toBe(driver);
    expect(pluginOfVolume({ spec: source })?.plugin).toBe(plugin);
  });

  test.each<[string, PersistentVolume]>([
    ['csi', { spec: { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' } } }],
    ['local', { spec: { local: { path: '/mnt' } } }],
    ['none', {}],
  ])('is none of these: %s', (_name, volume) => {
    expect(migrateVolume(volume)).toBeUndefined();
  });
});

describe('the handle of a GCE disk', () => {
  const zone = 'topology.kubernetes.io/zone';
  const betaZone = 'failure-domain.beta.kubernetes.io/zone';

  test.each<[string, StringMap, string]>([
    ['names its zone', { [zone]: 'us-east1-b' }, 'zones/us-east1-b'],
    [
      'names the zone of the beta label first',
      { [zone]: 'us-east1-b', [betaZone]: 'us-east1-c' },
      'zones/us-east1-c',
    ],
    ['passes over an empty beta label', { [zone]: 'us-east1-b', [betaZone]: '' }, 'zones/us-east1-b'],
    ['names the region of several zones', { [zone]: 'us-east1-b__us-east1-c' }, 'regions/us-east1'],
    ['leaves an unknown zone to the driver', {}, 'zones/UNSPECIFIED'],
  ])('%s', (_name, labels, place) => {
    const volume = { metadata: { labels }, spec: { gcePersistentDisk: { pdName: 'd' } } };
    const volumeHandle = `projects/UNSPECIFIED/${place}/disks/d`;
    expect(migrateVolume(volume)).toMatchObject({ ok: true, source: { volumeHandle } });
  });

  test.each(['us-east1-b__eu-west1-a', 'a__b', 'us-east1-b__'])(
    'can not be made for the zones %s',
    (zones) => {
      const volume = {
        metadata: { labels: { [zone]: zones } },
        spec: { gcePersistentDisk: { pdName: 'd' } },
      };
      expect(migrateVolume(volume)).toEqual({
        ok: false,
        problem: `metadata.labels.${zone}: "${zones}" are not zones of one region; list zones such as us-east1-b`,
      });
    },
  );
});

describe('the handle of an EBS volume', () => {
  test.each([
    ['vol-1', 'vol-1'],
    ['aws://us-east-1a/vol-1', 'vol-1'],
    ['aws:///vol-1', 'vol-1'],
    ['anything', 'anything'],
  ])('for %s is %s', (volumeID, volumeHandle) => {
    const volume = { spec: { awsElasticBlockStore: { volumeID } } };
    expect(migrateVolume(volume)).toMatchObject({ ok: true, source: { volumeHandle } });
  });

  test.each(['aws://us-east-1a/disk-1', 'aws://', 'aws://vol-1', 'aws://a/b/vol-1', 'aws://a/vol-1/b'])(
    'can not be made for %s',
    (volumeID) => {
      const result = migrateVolume({ spec: { awsElasticBlockStore: { volumeID } } });
      expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('names no EBS volume') });
    },
  );
});

test.each([
  [undefined, true],
  ['Managed', true],
  ['managed', true],
  ['Shared', false],
  ['Dedicated', false],
])('an Azure disk of kind %s can be translated: %s', (kind, ok) => {
  expect(
    migrateVolume({ spec: { azureDisk: { diskURI: 'd', ...(kind && { kind: kind as AzureDataDiskKind }) } } })
      ?.ok,
  ).toBe(ok);
});

test.each(['csi.example.com', 'kubernetes.io/no-provisioner', 'kubernetes.io/vsphere-volume', ''])(
  'no driver took over the provisioner %j',
  (name) => {
    expect(csiDriverForProvisioner(name)).toBeUndefined();
  },
);

describe('the plugins that a node serves through CSI', () => {
  const key = 'storage.alpha.kubernetes.io/migrated-plugins';

  test.each<[string, CSINode | undefined, readonly string[]]>([
    [
      'are those of the annotation',
      annotated('kubernetes.io/aws-ebs,kubernetes.io/gce-pd'),
      ['kubernetes.io/aws-ebs', 'kubernetes.io/gce-pd'],
    ],
    ['are none for an empty annotation', annotated(''), []],
    ['are none without the annotation', { metadata: {} }, []],
    ['are none without a CSINode', undefined, []],
  ])('%s', (_name, csiNode, expected) => {
    expect([...migratedPlugins(csiNode)]).toEqual(expected);
  });

  function annotated(value: string): CSINode {
    return { metadata: { annotations: { [key]: value } } };
  }
});
