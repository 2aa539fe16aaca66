import { stringify } from 'yaml';
import { readYaml, YamlSyntaxError } from '../../io/yaml/yaml-reader.ts';
import { isRecord, listOf, textOf } from '../../kube/wire.ts';
import type { BlockDevice } from './block-device.ts';
import { deviceId } from './device-id.ts';

/** A device in the file that `discover` writes and `init` reads. */
export interface ListedDevice {
  readonly id: string;
  readonly name: string;
  readonly isSelected: boolean;
}

const fileVersion = 'v1';

/** The file for review: every available device, selected. It has the form of DirectPV's `drives.yaml`. */
export function deviceListFile(nodeName: string, available: readonly BlockDevice[]): string {
  const drives = available.map((device) => ({
    id: deviceId(device),
    name: device.name,
    size: device.sizeBytes,
    make: device.make,
    fs: device.signature.type,
    select: 'yes',
  }));
  const comment = [
    'Devices that stowage drives init will format. Everything on them is erased.',
    'Set select to "no" for each device that must stay as it is. A device that changes after this file was written is refused.',
  ];
  const lines = comment.map((line) => `# ${line}\n`).join('');
  return `${lines}${stringify({ version: fileVersion, nodes: [{ name: nodeName, drives }] }, { lineWidth: 0 })}`;
}

/** A file that `init` can't use; the message names the field. */
export class DeviceListError extends Error {}

/** The devices of each node. */
export function parseDeviceList(text: string): ReadonlyMap<string, readonly ListedDevice[]> {
  const value = yamlOf(text);
  if (!isRecord(value) || value.version !== fileVersion)
    throw new DeviceListError(
      `version: must be ${fileVersion}; write the file with stowage drives discover --output-file`,
    );
  const nodes = new Map<string, readonly ListedDevice[]>();
  for (const [at, node] of listOf(value.nodes as readonly unknown[]).entries()) {
    const name = isRecord(node) ? textOf(node.name) : '';
    if (!isRecord(node) || name === '') throw new DeviceListError(`nodes[${at}].name: is required`);
    const listed = listOf(node.drives as readonly unknown[]);
    nodes.set(
      name,
      listed.map((drive, index) => listedDevice(drive, `nodes[${at}].drives[${index}]`)),
    );
  }
  return nodes;
}

function yamlOf(text: string): unknown {
  try {
    return readYaml(text).value;
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw new DeviceListError(error.message, { cause: error });
    throw error;
  }
}

function listedDevice(value: unknown, field: string): ListedDevice {
  if (!isRecord(value)) throw new DeviceListError(`${field}: must be an object`);
  const { id, name, select } = value;
  if (typeof id !== 'string' || id === '') throw new DeviceListError(`${field}.id: is required`);
  if (typeof name !== 'string' || name === '') throw new DeviceListError(`${field}.name: is required`);
  // YAML reads a bare yes as true.
  const isSelected = select === true || select === 'yes';
  if (!isSelected && select !== false && select !== 'no')
    throw new DeviceListError(`${field}.select: must be "yes" or "no"`);
  return { id, name, isSelected };
}
