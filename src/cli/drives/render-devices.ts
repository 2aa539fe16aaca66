import type { BlockDevice } from '../../drives/devices/block-device.ts';
import { deviceId } from '../../drives/devices/device-id.ts';
import { obstacleOf } from '../../drives/devices/device-obstacle.ts';
import { byteText } from '../output/byte-text.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import type { InitResult } from './init-devices.ts';

/** The output of `drives discover -o json`. */
export interface DevicesReport {
  readonly apiVersion: 'stowage.dev/drives/v1';
  readonly kind: 'DevicesReport';
  readonly node: string;
  readonly devices: readonly DeviceLine[];
}

export interface DeviceLine {
  readonly id: string;
  readonly device: string;
  readonly sizeBytes: number;
  readonly filesystem: string;
  readonly make: string;
  readonly serial: string;
  readonly available: boolean;
  /** Why it is not available: the kind for programs, the text for users. */
  readonly obstacle?: string | undefined;
  readonly description?: string | undefined;
}

/** The output of `drives init -o json`. */
export interface InitReport {
  readonly apiVersion: 'stowage.dev/drives/v1';
  readonly kind: 'InitReport';
  readonly node: string;
  readonly devices: readonly InitResult[];
}

export function deviceLine(device: BlockDevice): DeviceLine {
  const obstacle = obstacleOf(device);
  return {
    id: deviceId(device),
    device: device.path,
    sizeBytes: device.sizeBytes,
    filesystem: device.signature.type,
    make: device.make,
    serial: device.serial,
    available: obstacle === undefined,
    obstacle: obstacle?.kind,
    description: obstacle?.text,
  };
}

export function renderDevices({ node, devices }: DevicesReport, options: SectionsOptions): string {
  const sections = new Sections(options);
  if (devices.length === 0)
    sections.line(`Node ${node} has no block devices; --include-loop shows loop devices.`);
  sections.table(`DEVICES OF ${node}`, devices, deviceColumns(options));
  return sections.toString();
}

function deviceColumns({ terminal, isWide }: SectionsOptions): (Column<DeviceLine> | undefined)[] {
  const style = styleOf(terminal);
  return [
    isWide ? { title: 'ID', cell: ({ id }) => id } : undefined,
    { title: 'DEVICE', cell: ({ device }) => device },
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    { title: 'FILESYSTEM', cell: ({ filesystem }) => filesystem || '-' },
    { title: 'MAKE', cell: ({ make }) => make || '-', isMinor: true },
    isWide ? { title: 'SERIAL', cell: ({ serial }) => serial || '-' } : undefined,
    { title: 'AVAILABLE', cell: ({ available }) => (available ? style.good('yes') : style.warn('no')) },
    { title: 'DESCRIPTION', cell: ({ description = '-' }) => description },
  ];
}

/** Results are never shortened: they say what to correct. */
export function renderInit({ devices }: InitReport, options: SectionsOptions): string {
  const sections = new Sections({ ...options, terminal: { ...options.terminal, width: undefined } });
  sections.table('DEVICES', devices, [
    { title: 'DEVICE', cell: ({ device }) => device },
    { title: 'DRIVE', cell: ({ drive = '-' }) => drive },
    { title: 'RESULT', cell: ({ result, error }) => (error === undefined ? result : `${result}: ${error}`) },
  ]);
  return sections.toString();
}
