import type { DiskVolumeSpec } from '../../kube/stowage/volume.ts';
import type { AntiAffinity } from './choose-disk.ts';

/** The parameters of a StorageClass of `disks.stowage.dev`: the spec of its Volumes, except for the size. */
export interface DiskClass {
  readonly numberOfReplicas: number;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly antiAffinity: Readonly<Record<'node' | 'zone' | 'disk', AntiAffinity>>;
  readonly backingImage: string | undefined;
  readonly fsType: string | undefined;
}

export type DiskClassResult =
  | { readonly ok: true; readonly value: DiskClass }
  /** A sentence that names the parameter and the remedy. */
  | { readonly ok: false; readonly problem: string };

/** Those of the definition of Volume. */
const replicasDefault = 3;
const replicasMax = 20;
const tagsMax = 64;
const tagLengthMax = 63;

const fsTypeKey = 'csi.storage.k8s.io/fstype';

const known = [
  'numberOfReplicas',
  'nodeSelector',
  'diskSelector',
  'backingImage',
  'antiAffinityNode',
  'antiAffinityZone',
  'antiAffinityDisk',
  fsTypeKey,
] as const;
type Parameter = (typeof known)[number];

const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const objectNameLengthMax = 253;

/** Reads class parameters. A parameter that is unknown is a problem: a typing mistake must not place replicas anywhere. */
export function readDiskClass(parameters: Readonly<Record<string, string>>): DiskClassResult {
  const unknown = Object.keys(parameters).find((key) => !known.some((name) => name === key));
  if (unknown !== undefined)
    return { ok: false, problem: `parameter ${unknown} is unknown; must be one of ${known.join(', ')}` };
  try {
    return {
      ok: true,
      value: classOf((key) => (Object.hasOwn(parameters, key) ? parameters[key] : undefined)),
    };
  } catch (error) {
    if (error instanceof ParameterProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** The spec of a Volume of the class. All fields are there, so that two specs can be compared. */
export function diskVolumeSpec(
  diskClass: DiskClass,
  size: number,
): DiskVolumeSpec & { readonly size: number } {
  const { numberOfReplicas, nodeSelector, diskSelector, antiAffinity, backingImage } = diskClass;
  return {
    size,
    numberOfReplicas,
    nodeSelector,
    diskSelector,
    antiAffinity,
    ...(backingImage === undefined ? {} : { backingImage }),
  };
}

class ParameterProblem extends Error {
  constructor(parameter: Parameter, value: string, mustBe: string) {
    super(`parameter ${parameter}: ${JSON.stringify(value)} must be ${mustBe}`);
  }
}

type Read = (parameter: Parameter) => string | undefined;

function classOf(read: Read): DiskClass {
  return {
    numberOfReplicas: replicasOf(read),
    nodeSelector: tagsOf(read, 'nodeSelector'),
    diskSelector: tagsOf(read, 'diskSelector'),
    antiAffinity: {
      node: antiAffinityOf(read, 'antiAffinityNode', 'hard'),
      zone: antiAffinityOf(read, 'antiAffinityZone', 'soft'),
      disk: antiAffinityOf(read, 'antiAffinityDisk', 'soft'),
    },
    backingImage: imageOf(read),
    fsType: read(fsTypeKey) || undefined,
  };
}

function replicasOf(read: Read): number {
  const text = read('numberOfReplicas');
  if (text === undefined) return replicasDefault;
  const count = Number(text);
  if (/^[1-9]\d*$/.test(text) && count <= replicasMax) return count;
  throw new ParameterProblem('numberOfReplicas', text, `a number from 1 to ${replicasMax}`);
}

/** `ssd,fast`, in the order of their names: the order means nothing, and two spellings are one class. */
function tagsOf(read: Read, parameter: 'nodeSelector' | 'diskSelector'): readonly string[] {
  const text = read(parameter);
  if (text === undefined || text.trim() === '') return [];
  const tags = text.split(',').map((tag) => tag.trim());
  const isValid = tags.every((tag) => tag !== '' && tag.length <= tagLengthMax) && tags.length <= tagsMax;
  if (!isValid)
    throw new ParameterProblem(parameter, text, 'tags that are separated by commas, such as ssd,fast');
  return [...new Set(tags)].sort();
}

function antiAffinityOf(read: Read, parameter: Parameter, otherwise: AntiAffinity): AntiAffinity {
  const text = read(parameter);
  if (text === undefined) return otherwise;
  if (text === 'hard' || text === 'soft') return text;
  throw new ParameterProblem(parameter, text, 'hard or soft');
}

function imageOf(read: Read): string | undefined {
  const text = read('backingImage');
  if (text === undefined || text === '') return undefined;
  if (objectName.test(text) && text.length <= objectNameLengthMax) return text;
  throw new ParameterProblem('backingImage', text, 'the name of a BackingImage');
}
