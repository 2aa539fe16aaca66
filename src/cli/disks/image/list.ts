import { readDiskObjects } from '../../../queries/disks/disk-objects.ts';
import type { BackingImagesReport } from '../../../queries/disks/disks-report.ts';
import { imageLines } from '../../../queries/disks/image-lines.ts';
import { printableText } from '../../../runtime/printable-text.ts';
import { CliError } from '../../errors/cli-error.ts';
import { outputFormatOf } from '../../output/output-format.ts';
import { renderImages } from '../render-disks.ts';
import { type DisksFlags, disksOutput, withDisks } from '../with-disks.ts';

export interface ListImagesFlags extends DisksFlags {
  readonly output: string;
}

/** `stowage disks image list`. */
export async function listImages(flags: ListImagesFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const objects = await withDisks(flags, (cluster) => readDiskObjects(cluster));
  if (objects.images === undefined)
    throw new CliError('backingimages can not be listed (forbidden); ask for the right to list them');
  const report: BackingImagesReport = {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'BackingImagesReport',
    images: imageLines(objects),
    notes: objects.notes,
  };
  const names = () => report.images.map(({ image }) => `image/${printableText(image)}`);
  process.stdout.write(disksOutput(report, format, { render: renderImages, names }));
}
