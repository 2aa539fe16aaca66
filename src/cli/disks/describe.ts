import { describeDisk, describeStorageNode } from '../../queries/disks/describe-lines.ts';
import { type DiskObjects, readDiskObjects } from '../../queries/disks/disk-objects.ts';
import { VolumesOnDisks } from '../../queries/disks/disk-volume-lines.ts';
import { describeImage } from '../../queries/disks/image-lines.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { outputFormatOf } from '../output/output-format.ts';
import { type DisksTarget, targetNamed, targetText } from './disk-targets.ts';
import { type DisksDescription, renderDescription } from './render-descriptions.ts';
import { type DisksFlags, disksOutput, withDisks } from './with-disks.ts';

export interface DescribeFlags extends DisksFlags {
  readonly output: string;
}

/** `stowage disks describe`. */
export async function describeTarget(argument: string, flags: DescribeFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const objects = await withDisks(flags, (cluster) => readDiskObjects(cluster));
  const target = targetNamed(argument, objects);
  const names = () => [printableText(targetText(target))];
  process.stdout.write(
    disksOutput(disksDescriptionOf(target, objects), format, { render: renderDescription, names }),
  );
}

export function disksDescriptionOf(target: DisksTarget, objects: DiskObjects): DisksDescription {
  switch (target.kind) {
    case 'disk':
      return describeDisk(target.disk, objects);
    case 'node':
      return describeStorageNode(target.node, objects);
    case 'volume':
      return new VolumesOnDisks(objects).describe(target.volume);
    case 'image':
      return describeImage(target.image, objects);
  }
}
