import { type VolumeCapability, VolumeCapability_AccessMode_Mode } from '../../csi/generated/csi.ts';
import { fstypeProblem } from '../../engine/drives/class-parameters.ts';

const { SINGLE_NODE_WRITER, SINGLE_NODE_READER_ONLY, SINGLE_NODE_SINGLE_WRITER, SINGLE_NODE_MULTI_WRITER } =
  VolumeCapability_AccessMode_Mode;

/** A drive is in one node. */
const supportedModes: ReadonlySet<number> = new Set([
  SINGLE_NODE_WRITER,
  SINGLE_NODE_READER_ONLY,
  SINGLE_NODE_SINGLE_WRITER,
  SINGLE_NODE_MULTI_WRITER,
]);

const modeNames = new Map<number, string>(
  Object.entries(VolumeCapability_AccessMode_Mode).map(([name, mode]) => [mode, name]),
);

/** Returns the first unsupported capability, as a sentence; undefined if all are supported. */
export function capabilityProblem(capabilities: readonly VolumeCapability[]): string | undefined {
  for (const { accessType, accessMode } of capabilities) {
    if (accessType.case === 'block')
      return 'volumes on drives are directories of a filesystem, not block devices; use volumeMode Filesystem';
    const mode = accessMode?.mode ?? 0;
    if (!supportedModes.has(mode))
      return `the access mode ${modeNames.get(mode) ?? mode} is not supported, because a drive is in one node; use ReadWriteOnce or ReadWriteOncePod`;
    const problem = accessType.case === 'mount' ? fstypeProblem(accessType.value.fsType) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
