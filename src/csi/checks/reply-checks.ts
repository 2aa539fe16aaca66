import type { CsiMethodName, CsiReply, CsiRequest } from '../csi-methods.ts';
import { type VolumeUsage, VolumeUsage_Unit } from '../generated/csi.ts';
import {
  checkId,
  checkLength,
  checkNotNegative,
  checkTopology,
  checkWithinRange,
  InvalidField,
} from './field-checks.ts';

/** Throws `InvalidField` for a reply that CSI forbids, so that callers can rely on what they read. */
export function checkReply<Name extends CsiMethodName>(
  name: Name,
  reply: CsiReply<Name>,
  request: CsiRequest<Name>,
): void {
  replyChecks[name](reply, request);
}

type ReplyChecks = {
  readonly [Name in CsiMethodName]: (reply: CsiReply<Name>, request: CsiRequest<Name>) => void;
};

/** CSI has no rule for these replies: empty ones, opaque maps, and capabilities, of which unknown ones are to be ignored. */
const anything = (): void => {};

const replyChecks: ReplyChecks = {
  GetPluginInfo: ({ name, vendorVersion }) => {
    checkDriverName(name);
    if (vendorVersion === '') throw new InvalidField('vendor_version', 'must not be empty');
  },
  GetPluginCapabilities: anything,
  Probe: anything,
  CreateVolume: checkCreatedVolume,
  DeleteVolume: anything,
  ControllerPublishVolume: anything,
  ControllerUnpublishVolume: anything,
  ValidateVolumeCapabilities: anything,
  ListVolumes: checkListedVolumes,
  GetCapacity: ({ availableCapacity, maximumVolumeSize, minimumVolumeSize }) => {
    checkNotNegative('available_capacity', availableCapacity);
    if (maximumVolumeSize !== undefined) checkNotNegative('maximum_volume_size', maximumVolumeSize);
    if (minimumVolumeSize !== undefined) checkNotNegative('minimum_volume_size', minimumVolumeSize);
  },
  ControllerGetCapabilities: anything,
  ControllerExpandVolume: ({ capacityBytes }, { capacityRange }) => {
    if (capacityBytes <= 0n)
      throw new InvalidField('capacity_bytes', `must be positive, but is ${capacityBytes}`);
    checkWithinRange('capacity_bytes', capacityBytes, capacityRange);
  },
  ControllerModifyVolume: anything,
  NodeStageVolume: anything,
  NodeUnstageVolume: anything,
  NodePublishVolume: anything,
  NodeUnpublishVolume: anything,
  NodeGetVolumeStats: ({ usage }) => {
    for (const [at, one] of usage.entries()) checkUsage(`usage[${at}]`, one);
  },
  NodeExpandVolume: ({ capacityBytes }, { capacityRange }) => {
    checkNotNegative('capacity_bytes', capacityBytes);
    // 0 means that the driver does not tell.
    if (capacityBytes > 0n) checkWithinRange('capacity_bytes', capacityBytes, capacityRange);
  },
  NodeGetCapabilities: anything,
  NodeGetInfo: ({ nodeId, maxVolumesPerNode, accessibleTopology }) => {
    checkId('node_id', nodeId);
    checkLength('node_id', nodeId, 256);
    checkNotNegative('max_volumes_per_node', maxVolumesPerNode);
    checkTopology('accessible_topology', accessibleTopology);
  },
};

/** The names of drivers are the names of CSIDriver objects too. */
function checkDriverName(name: string): void {
  if (name === '') throw new InvalidField('name', 'must not be empty');
  if (name.length > 63 || !/^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?$/.test(name)) {
    const rule =
      'must have at most 63 letters, digits, dashes and dots, and begin and end with a letter or digit';
    throw new InvalidField('name', `${rule}, but is ${JSON.stringify(name.slice(0, 100))}`);
  }
}

function checkCreatedVolume(reply: CsiReply<'CreateVolume'>, request: CsiRequest<'CreateVolume'>): void {
  const { volume } = reply;
  if (volume === undefined) throw new InvalidField('volume', 'is missing');
  checkId('volume.volume_id', volume.volumeId);
  checkNotNegative('volume.capacity_bytes', volume.capacityBytes);
  // 0 means that the driver does not know the size; the requested one counts then.
  if (volume.capacityBytes > 0n) {
    checkWithinRange('volume.capacity_bytes', volume.capacityBytes, request.capacityRange);
  }
  for (const [at, topology] of volume.accessibleTopology.entries()) {
    checkTopology(`volume.accessible_topology[${at}]`, topology);
  }
  // A driver that ignores the source returns an empty volume in place of a copy.
  const asked = request.volumeContentSource?.type.case;
  const got = volume.contentSource?.type.case;
  if (asked !== undefined && asked !== got) {
    throw new InvalidField(
      'volume.content_source',
      `must be a ${asked} as in the request, but is ${got ?? 'missing'}`,
    );
  }
}

function checkListedVolumes(reply: CsiReply<'ListVolumes'>, { maxEntries }: CsiRequest<'ListVolumes'>): void {
  if (maxEntries > 0 && reply.entries.length > maxEntries) {
    throw new InvalidField(
      'entries',
      `has ${reply.entries.length} entries, more than the max_entries ${maxEntries}`,
    );
  }
  for (const [at, { volume }] of reply.entries.entries()) {
    if (volume === undefined) throw new InvalidField(`entries[${at}].volume`, 'is missing');
    checkId(`entries[${at}].volume.volume_id`, volume.volumeId);
    checkNotNegative(`entries[${at}].volume.capacity_bytes`, volume.capacityBytes);
  }
}

function checkUsage(field: string, { available, total, used, unit }: VolumeUsage): void {
  if (unit === VolumeUsage_Unit.UNKNOWN) throw new InvalidField(`${field}.unit`, 'is missing');
  checkNotNegative(`${field}.available`, available);
  checkNotNegative(`${field}.total`, total);
  checkNotNegative(`${field}.used`, used);
}
