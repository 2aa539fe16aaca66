import { controllerNames } from '../../controllers/controller-names.ts';
import { accessTierNames } from '../../kube/stowage/drive.ts';
import { logFormats, logLevels } from '../../runtime/log.ts';
import { outputFormats } from '../output/output-format.ts';

/**
 * Values of flags and arguments for completion only. The commands validate them with their own messages, so commander does not know them.
 */
const flags: Readonly<Record<string, readonly string[]>> = {
  '--output': outputFormats,
  '--log-format': logFormats,
  '--log-level': logLevels,
  '--profile': ['stowage', 'upstream'],
  '--leader-elect': ['true', 'false'],
  '--dry-run': ['true', 'false'],
  '--tier': accessTierNames,
  '--controllers': ['none', ...controllerNames],
};

export const shells = ['bash', 'zsh', 'fish'] as const;

const commandArguments: Readonly<Record<string, readonly string[]>> = {
  'explain kind': ['pod', 'claim', 'deployment', 'statefulset', 'replicaset'],
  'completion shell': shells,
  'drives list what': ['drives', 'volumes'],
  'drives tier tier': accessTierNames,
};

/** The values of a flag, which are the same for all commands; undefined if any value is valid. */
export function flagValues(long: string): readonly string[] | undefined {
  return flags[long];
}

export function argumentValues(command: string, name: string): readonly string[] | undefined {
  return commandArguments[`${command} ${name}`];
}

/** The argument of `stowage __names`. */
export type NamedThing =
  | 'object'
  | 'namespace'
  | 'class'
  | 'drive'
  | 'node'
  | 'disk'
  | 'node-or-disk'
  | 'node-or-drive'
  | 'workload'
  | 'stateful-set'
  | 'disks-target'
  | 'disk-volume'
  | 'image';

const disksArguments: Readonly<Record<string, NamedThing>> = {
  'disks describe target': 'disks-target',
  'disks evict target': 'node-or-disk',
  'disks cordon targets': 'node-or-disk',
  'disks uncordon targets': 'node-or-disk',
  'disks remove disk': 'disk',
  'disks image from-volume volume': 'disk-volume',
  'disks image delete image': 'image',
};

const namedByFlags: Readonly<Record<string, NamedThing>> = {
  '--namespace': 'namespace',
  '--class': 'class',
  '--node': 'node',
  'plan --drain': 'node-or-drive',
  'plan --like': 'node',
  'plan --add-drive': 'node',
  'plan --replicas': 'workload',
  'headroom --like': 'stateful-set',
};

/** The kind of object whose name a flag takes: of this command, or of all. */
export function namedByFlag(command: string, long: string): NamedThing | undefined {
  return namedByFlags[`${command} ${long}`] ?? namedByFlags[long];
}

export function namedByArgument(command: string, name: string): NamedThing | undefined {
  if (command.startsWith('drives ') && /^(drives?|source|target)$/.test(name)) return 'drive';
  if (command === 'explain' && name === 'name') return 'object';
  if ((command === 'drain-plan' || command === 'move') && name === 'target') return 'node-or-drive';
  return disksArguments[`${command} ${name}`];
}
