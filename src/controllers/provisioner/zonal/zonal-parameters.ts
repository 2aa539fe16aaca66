import type { StorageClass } from '../../../kube/api/storage.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';

/** The parameters of a class of `zonal.stowage.dev`. */
export interface ZonalParameters {
  readonly kind: 'parameters';
  /** The number of zones of each volume. */
  readonly zonesPerVolume: 1 | 2;
  /** The zones of the old `zone` and `zones`; empty if neither is set. */
  readonly zones: readonly string[];
  /** Labels, besides those of zones and regions, that restrict where a volume can be reached. */
  readonly topologyKeys: readonly string[];
  readonly fsType: string | undefined;
  /** Kept with the volume, and without further meaning here. */
  readonly diskType: string | undefined;
}

const readers = {
  replication: (value: string) => replicationOf('replication', value, 'two-zones'),
  'replication-type': (value: string) => replicationOf('replication-type', value, 'regional-pd'),
  zone: (value: string) => zonesOf('zone', [value.trim()]),
  zones: (value: string) => zonesOf('zones', listOf(value)),
  topologyKeys: (value: string) => ({ topologyKeys: listOf(value) }),
  fsType: (value: string) => ({ fsType: value }),
  fstype: (value: string) => ({ fsType: value }),
  'csi.storage.k8s.io/fstype': (value: string) => ({ fsType: value }),
  type: (value: string) => ({ diskType: value }),
} as const satisfies Readonly<Record<string, (value: string) => Partial<ZonalParameters> | RefusedOutcome>>;

export function readParameters(name: string, storageClass: StorageClass): ZonalParameters | RefusedOutcome {
  const parameters = storageClass.parameters ?? {};
  let read: ZonalParameters = {
    kind: 'parameters',
    zonesPerVolume: 1,
    zones: [],
    topologyKeys: [],
    fsType: undefined,
    diskType: undefined,
  };
  for (const [key, value] of Object.entries(parameters)) {
    if (!isKnown(key))
      return refusedOutcome(
        `invalid option "${key}" for volume plugin ${name}; must be one of ${known.join(', ')}`,
      );
    const part: Partial<ZonalParameters> | RefusedOutcome = readers[key](value);
    if (part.kind === 'refused') return part;
    read = { ...read, ...part };
  }
  return conflictOf(storageClass) ?? read;
}

const known = Object.keys(readers);

function isKnown(key: string): key is keyof typeof readers {
  return Object.hasOwn(readers, key);
}

function conflictOf({ parameters = {}, allowedTopologies = [] }: StorageClass): RefusedOutcome | undefined {
  const { zone, zones, replication, 'replication-type': replicationType } = parameters;
  if (zone !== undefined && zones !== undefined)
    return refusedOutcome('both zone and zones StorageClass parameters must not be used at the same time');
  if (replication !== undefined && replicationType !== undefined)
    return refusedOutcome('replication and replication-type mean the same; keep only replication');
  if ((zone ?? zones) !== undefined && allowedTopologies.length > 0)
    return refusedOutcome(
      'zone[s] cannot be specified in StorageClass if allowedTopologies specified; keep only allowedTopologies',
    );
  return undefined;
}

function replicationOf(key: string, value: string, two: string): Partial<ZonalParameters> | RefusedOutcome {
  if (value === 'none') return { zonesPerVolume: 1 };
  if (value === two) return { zonesPerVolume: 2 };
  return refusedOutcome(`${key} of '${value}' is invalid - expected '${two}' or 'none'`);
}

function zonesOf(key: string, zones: readonly string[]): Partial<ZonalParameters> | RefusedOutcome {
  if (zones.length > 0 && zones.every((zone) => zone !== '')) return { zones: [...new Set(zones)] };
  return refusedOutcome(`parameters.${key}: contains no zone; it must be a comma-separated list of zones`);
}

/** An empty entry between commas stays, for `zonesOf` to find. */
function listOf(value: string): readonly string[] {
  return value.split(',').map((part) => part.trim());
}
