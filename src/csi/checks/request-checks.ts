import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { checkLength, checkNotNegative, InvalidField } from './field-checks.ts';

/** Fields that CSI requires in requests, by the request's method. */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  CreateVolume: ['name', 'volume_capabilities'],
  DeleteVolume: ['volume_id'],
  ControllerPublishVolume: ['volume_id', 'node_id', 'volume_capability'],
  ControllerUnpublishVolume: ['volume_id'],
  ValidateVolumeCapabilities: ['volume_id', 'volume_capabilities'],
  ControllerGetVolume: ['volume_id'],
  ControllerExpandVolume: ['volume_id', 'capacity_range'],
  ControllerModifyVolume: ['volume_id'],
  CreateSnapshot: ['source_volume_id', 'name'],
  DeleteSnapshot: ['snapshot_id'],
  GetSnapshot: ['snapshot_id'],
  NodeStageVolume: ['volume_id', 'staging_target_path', 'volume_capability'],
  NodeUnstageVolume: ['volume_id', 'staging_target_path'],
  NodePublishVolume: ['volume_id', 'target_path', 'volume_capability'],
  NodeUnpublishVolume: ['volume_id', 'target_path'],
  NodeGetVolumeStats: ['volume_id', 'volume_path'],
  NodeExpandVolume: ['volume_id', 'volume_path'],
};

const nameBytesMax = 128;

/** Throws `InvalidField` for a request that CSI forbids: a required field is missing, or a value that no driver may accept. */
export function checkRequest<Desc extends DescMessage>(
  method: string,
  schema: Desc,
  request: MessageShape<Desc>,
): void {
  const message = reflect(schema, request);
  for (const name of requiredFields[method] ?? []) {
    const field = message.desc.fields.find((one) => one.name === name);
    if (field !== undefined && !message.isSet(field)) throw new InvalidField(name, 'is required');
  }
  checkMessage(message, '');
}

function checkMessage(message: ReflectMessage, path: string): void {
  for (const field of message.fields) {
    if (message.isSet(field)) checkField(message, field, path === '' ? field.name : `${path}.${field.name}`);
  }
  if (message.desc.typeName === 'csi.v1.VolumeCapability') checkCapability(message, path);
  if (message.desc.typeName === 'csi.v1.CapacityRange') checkRange(message, path);
}

function checkField(message: ReflectMessage, field: DescField, path: string): void {
  if (field.fieldKind === 'message') checkMessage(message.get(field), path);
  if (field.fieldKind === 'list' && field.listKind === 'message') {
    const items = [...message.get(field)] as ReflectMessage[];
    for (const [at, item] of items.entries()) checkMessage(item, `${path}[${at}]`);
  }
  if (field.fieldKind === 'scalar' && field.name === 'name')
    checkLength(path, String(message.get(field)), nameBytesMax);
  if (field.fieldKind === 'scalar' && field.name === 'max_entries')
    checkNotNegative(path, Number(message.get(field)));
}

function checkCapability(message: ReflectMessage, path: string): void {
  const isSet = (name: string) => message.fields.some((field) => field.name === name && message.isSet(field));
  if (!isSet('block') && !isSet('mount'))
    throw new InvalidField(`${path}.access_type`, 'is required: block or mount');
  if (!isSet('access_mode')) throw new InvalidField(`${path}.access_mode`, 'is required');
}

function checkRange(message: ReflectMessage, path: string): void {
  const bytes = (name: string): bigint => {
    const field = message.fields.find((one) => one.name === name);
    return field?.fieldKind === 'scalar' ? BigInt(String(message.get(field))) : 0n;
  };
  const [required, limit] = [bytes('required_bytes'), bytes('limit_bytes')];
  checkNotNegative(`${path}.required_bytes`, required);
  checkNotNegative(`${path}.limit_bytes`, limit);
  if (required === 0n && limit === 0n)
    throw new InvalidField(path, 'required_bytes or limit_bytes must be set');
  if (limit > 0n && limit < required) {
    throw new InvalidField(`${path}.limit_bytes`, `is ${limit}, below required_bytes ${required}`);
  }
}
