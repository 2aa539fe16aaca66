import { unreachable } from '../../runtime/assert.ts';
import type { AzureDiskVolumeSource, PersistentVolume, Volume } from '../api/core.ts';
import type { CSINode } from '../api/storage.ts';
import { annotations, labels, multiZoneSeparator } from '../well-known.ts';
import { lookUp, textOf } from '../wire.ts';

/**
 * Disks of plugins that were once part of Kubernetes and that a CSI driver manages today. Such an object keeps its old
 * form. A node lists on its CSINode the plugins that it serves through CSI; on that node the volume belongs to the
 * driver, and its zone is matched by the driver's topology key.
 *
 * These are the plugins that kube-scheduler migrates. `topologyKey` is undefined where kube-scheduler keeps a volume's
 * node affinity as it is; for Azure disks it does so although their driver has such a key.
 */
const inTreePlugins = [
  {
    plugin: 'kubernetes.io/gce-pd',
    driver: 'pd.csi.storage.gke.io',
    source: 'gcePersistentDisk',
    topologyKey: 'topology.gke.io/zone',
  },
  {
    plugin: 'kubernetes.io/aws-ebs',
    driver: 'ebs.csi.aws.com',
    source: 'awsElasticBlockStore',
    topologyKey: 'topology.ebs.csi.aws.com/zone',
  },
  {
    plugin: 'kubernetes.io/cinder',
    driver: 'cinder.csi.openstack.org',
    source: 'cinder',
    topologyKey: 'topology.cinder.csi.openstack.org/zone',
  },
  {
    plugin: 'kubernetes.io/azure-disk',
    driver: 'disk.csi.azure.com',
    source: 'azureDisk',
    topologyKey: undefined,
  },
  {
    plugin: 'kubernetes.io/portworx-volume',
    driver: 'pxd.portworx.com',
    source: 'portworxVolume',
    topologyKey: undefined,
  },
] as const;

export type InTreePlugin = (typeof inTreePlugins)[number];

/** The driver that manages a disk now, and the driver's handle of the disk. */
export interface MigratedSource {
  readonly plugin: InTreePlugin['plugin'];
  readonly driver: InTreePlugin['driver'];
  readonly volumeHandle: string;
}

/**
 * For a disk that can't be translated, kube-scheduler fails when it checks the node affinity, and skips the disk when it
 * counts volumes.
 */
export type MigrationResult =
  | { readonly ok: true; readonly source: MigratedSource }
  | { readonly ok: false; readonly problem: string };

/** The CSI source of a persistent volume; undefined if no migrated plugin has it. */
export function migrateVolume(volume: PersistentVolume): MigrationResult | undefined {
  const found = pluginOfVolume(volume);
  return found === undefined ? undefined : migrateSource(found, volume.spec ?? {}, zonesOfVolume(volume));
}

/** The same for an inline disk of a pod, which has no zone. */
export function migrateInlineVolume(volume: Volume): MigrationResult | undefined {
  const found = inTreePlugins.find(({ source }) => isPresent(volume?.[source]));
  return found === undefined ? undefined : migrateSource(found, volume, []);
}

export function pluginOfVolume(volume: PersistentVolume): InTreePlugin | undefined {
  return inTreePlugins.find(({ source }) => isPresent(volume?.spec?.[source]));
}

/** The driver for the name of an in-tree provisioner; undefined for every other name. */
export function csiDriverForProvisioner(inTreeName: string): InTreePlugin['driver'] | undefined {
  return inTreePlugins.find(({ plugin }) => plugin === inTreeName)?.driver;
}

/** The in-tree plugins that this node serves through CSI; none for a node without a CSINode. */
export function migratedPlugins(csiNode: CSINode | undefined): ReadonlySet<string> {
  const list = textOf(lookUp(csiNode?.metadata?.annotations, annotations.migratedPlugins));
  return new Set(list === '' ? [] : list.split(','));
}

type Sources = Pick<Volume, InTreePlugin['source']>;
type Handle =
  | { readonly ok: true; readonly handle: string }
  | { readonly ok: false; readonly problem: string };

function migrateSource(
  { plugin, driver, source }: InTreePlugin,
  sources: Sources,
  zones: readonly string[],
): MigrationResult {
  const result = handleOf(source, sources, zones);
  return result.ok ? { ok: true, source: { plugin, driver, volumeHandle: result.handle } } : result;
}

/** Only here the beta label has precedence over the stable one, and only if it isn't empty. */
function zonesOfVolume({ metadata }: PersistentVolume): readonly string[] {
  const zones = lookUp(metadata?.labels, labels.betaZone) || lookUp(metadata?.labels, labels.zone);
  return textOf(zones).split(multiZoneSeparator);
}

function handleOf(source: InTreePlugin['source'], sources: Sources, zones: readonly string[]): Handle {
  switch (source) {
    case 'gcePersistentDisk':
      return gceHandle(textOf(sources.gcePersistentDisk?.pdName), zones);
    case 'awsElasticBlockStore':
      return awsHandle(textOf(sources.awsElasticBlockStore?.volumeID));
    case 'azureDisk':
      return azureHandle(sources.azureDisk);
    case 'cinder':
    case 'portworxVolume':
      return { ok: true, handle: textOf(sources[source]?.volumeID) };
    default:
      return unreachable(source);
  }
}

/** The driver replaces it by values of the node. */
const unspecified = 'UNSPECIFIED';

function gceHandle(diskName: string, zones: readonly string[]): Handle {
  if (zones.length <= 1) {
    return { ok: true, handle: `projects/${unspecified}/zones/${zones[0] || unspecified}/disks/${diskName}` };
  }
  const regions = new Set(zones.map(gceRegion));
  const [region] = regions;
  if (regions.size === 1 && region !== undefined) {
    return { ok: true, handle: `projects/${unspecified}/regions/${region}/disks/${diskName}` };
  }
  const found = zones.join(multiZoneSeparator);
  return problem(
    `metadata.labels.${labels.zone}`,
    found,
    'are not zones of one region; list zones such as us-east1-b',
  );
}

function gceRegion(zone: string): string | undefined {
  const parts = zone.split('-');
  return parts.length === 3 ? `${parts[0]}-${parts[1]}` : undefined;
}

/** Old objects write the disk as `aws://us-east-1a/vol-1`, with or without the zone. */
function awsHandle(volumeId: string): Handle {
  const prefix = 'aws://';
  if (!volumeId.startsWith(prefix)) return { ok: true, handle: volumeId };
  const [, ...path] = volumeId.slice(prefix.length).split('/');
  const [handle = '', ...others] = path.filter((part) => part !== '');
  if (handle.startsWith('vol-') && others.length === 0) return { ok: true, handle };
  return problem(
    'awsElasticBlockStore.volumeID',
    volumeId,
    'names no EBS volume; write vol-… or aws://ZONE/vol-…',
  );
}

function azureHandle(disk: AzureDiskVolumeSource | undefined): Handle {
  const kind = textOf(disk?.kind ?? 'Managed');
  if (kind.toLowerCase() === 'managed') return { ok: true, handle: textOf(disk?.diskURI) };
  return problem('azureDisk.kind', kind, 'disks have no CSI driver; move the data to a Managed disk');
}

function problem(field: string, found: string, complaint: string): Handle {
  return { ok: false, problem: `${field}: ${JSON.stringify(found)} ${complaint}` };
}

function isPresent(source: unknown): boolean {
  return source !== undefined && source !== null;
}
