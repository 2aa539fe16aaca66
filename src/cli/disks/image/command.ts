import { type Command, Option } from 'commander';
import {
  collect,
  fromCluster,
  ofContext,
  ofFormat,
  toCluster,
  verbosely,
} from '../../flags/shared-options.ts';

const copies = new Option('--copies <number>', 'how many copies there should be at least (default: 1)');
const nodeTags = new Option('--node-selector <tag>', 'only nodes with this tag; may be repeated').argParser(
  collect,
);
const diskTags = new Option('--disk-selector <tag>', 'only disks with this tag; may be repeated').argParser(
  collect,
);

/** `stowage disks image`, a group of commands. */
export function addImages(disks: Command): void {
  const image = disks
    .command('image')
    .description('manage images that volumes begin with')
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image create ubuntu --url https://images.example.com/ubuntu.img
  stowage disks image upload ubuntu ubuntu.img
  stowage disks image list

Each command has a --help of its own. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    );
  addImageList(image);
  addImageCreate(image);
  addImageUpload(image);
  addImageFromVolume(image);
  addImageDelete(image);
}

function addImageList(image: Command): void {
  image
    .command('list')
    .description('show images with their size, copies and progress')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image list
  stowage disks image list -o name

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { listImages } = await import('./list.ts');
      await listImages(options);
    });
}

function addImageCreate(image: Command): void {
  placed(image.command('create'))
    .argument('<name>', 'the name of the image')
    .description('make an image from the net: an agent downloads it to a disk')
    .requiredOption('--url <url>', 'where the image is: http or https')
    .option('--checksum <sha512>', 'SHA-512 as sha512sum prints it; a download that has another is not used')
    .option('--expected-size <quantity>', 'bytes to reserve while the size is unknown, such as 3Gi')
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image create ubuntu --url https://images.example.com/ubuntu.img --expected-size 3Gi
  stowage disks image create ubuntu --url https://images.example.com/ubuntu.img --copies 3 --disk-selector ssd

Exit status: 0 if the image was created, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (name, options) => {
      const { createImage } = await import('./create.ts');
      await createImage(name, options);
    });
}

function addImageUpload(image: Command): void {
  placed(image.command('upload'))
    .argument('<name>', 'the name of the image')
    .argument('<file>', 'the image, a file of this machine')
    .description('make an image from a file of this machine, and wait until it can be used')
    .option(
      '--timeout <duration>',
      'how long to wait for a disk, for answers, and for the checksum (default: 10m)',
    )
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image upload ubuntu ubuntu.img
  stowage disks image upload ubuntu ubuntu.img --copies 2

The bytes go directly to the agent of the node that has the first copy, and are verified there. Called again after an
interruption, it goes on where it stopped. Exit status: 0 if the image is ready, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (name, file, options) => {
      const { uploadImage } = await import('./upload.ts');
      await uploadImage(name, file, options);
    });
}

function addImageFromVolume(image: Command): void {
  placed(image.command('from-volume'))
    .argument('<name>', 'the name of the image')
    .argument('<volume>', 'the volume whose data becomes the image, as it is now')
    .description('make an image from the data of a volume')
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image from-volume golden db

Exit status: 0 if the image was created, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (name, volume, options) => {
      const { imageFromVolume } = await import('./create.ts');
      await imageFromVolume(name, volume, options);
    });
}

function addImageDelete(image: Command): void {
  image
    .command('delete')
    .argument('<image>', 'the name of the image')
    .description('delete an image that no volume begins with, and its copies')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks image delete ubuntu

An image that volumes begin with is refused, and they are listed. Exit status: 0 on success, 1 on an error, 2 on wrong
usage.`,
    )
    .action(async (name, options) => {
      const { deleteImage } = await import('./delete.ts');
      await deleteImage(name, options);
    });
}

/** Flags of every command that makes an image. */
function placed(command: Command): Command {
  return command
    .addOption(copies)
    .addOption(nodeTags)
    .addOption(diskTags)
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely);
}
