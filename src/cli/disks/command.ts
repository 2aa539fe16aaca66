import type { Command } from 'commander';
import { fromCluster, ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';
import { addImages } from './image/command.ts';

/** `stowage disks`, a group of commands. */
export function addDisks(program: Command): void {
  const disks = program
    .command('disks')
    .description(
      'manage disks that keep replicas of volumes and images: list, describe, evict, remove, images',
    )
    .addHelpText(
      'after',
      `
Examples:
  stowage disks list                         disks with what is scheduled, pending and free
  stowage disks describe volume/db           where its replicas are, and what it waits for
  stowage disks evict node/n1 --wait         move everything to other nodes
  stowage disks image upload ubuntu ubuntu.img

Each command has a --help of its own. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    );
  addListDisks(disks);
  addDescribe(disks);
  addEvict(disks);
  addCordonDisks(disks);
  addUncordonDisks(disks);
  addRemoveDisk(disks);
  addImages(disks);
}

function addListDisks(disks: Command): void {
  disks
    .command('list')
    .description('show disks with what is scheduled, pending and free, or volumes with their replicas')
    .option('--volumes', 'show volumes: size, replicas wanted, placed and healthy, and what they wait for')
    .option('--node <name>', 'only the disks of this node, or volumes with a replica there')
    .option('-l, --selector <tags>', 'only disks with all of these tags, on the disk or its node: ssd,rack-1')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks list                    all disks by node and name, with bars on a terminal
  stowage disks list -o wide            with whole UUIDs, zones and paths
  stowage disks list --volumes          volumes, and why some have no place
  stowage disks list --selector ssd -o name

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { listDisks } = await import('./list.ts');
      await listDisks(options);
    });
}

function addDescribe(disks: Command): void {
  disks
    .command('describe')
    .argument(
      '<target>',
      'disk/UUID, NODE/DISK, node/NAME, volume/NAME, claim/NAMESPACE/NAME, image/NAME, or a unique name',
    )
    .description('show everything about a disk, a node, a volume or an image')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks describe n1/ssd          its limit and how it comes about, and what has its bytes
  stowage disks describe disk/3f8209d1   by the first digits of its UUID
  stowage disks describe volume/db       where its replicas are, and what it waits for
  stowage disks describe node/n1         its disks, and what an eviction can't move
  stowage disks describe image/ubuntu    its copies and their progress

Exit status: 0 on success, 1 on an error or if nothing has that name, 2 on wrong usage.`,
    )
    .action(async (target, options) => {
      const { describeTarget } = await import('./describe.ts');
      await describeTarget(target, options);
    });
}

function addEvict(disks: Command): void {
  disks
    .command('evict')
    .argument('<target>', 'node/NAME, disk/UUID or NODE/DISK')
    .description('move all replicas and copies of images from a node or disk to others; nothing new comes')
    .option('--undo', 'take it back: what has not moved stays, and new replicas may come again')
    .option('--wait', 'wait until the node or disk is empty, or until what is left can not move')
    .option('--timeout <duration>', 'how long to wait (default: 10m)')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks evict node/n1 --wait       before maintenance that takes long, or for good
  stowage disks evict n1/ssd               only one disk; prints what has to move
  stowage disks evict n1/ssd --undo

A replica leaves when the others of its volume have the data. Exit status: 0 if nothing is left, or it moves; 1 on an
error, 2 on wrong usage, 3 if something can't move, or has not moved within --timeout: the output says what and why.`,
    )
    .action(async (target, options) => {
      const { evict } = await import('./evict.ts');
      await evict(target, options);
    });
}

function addCordonDisks(disks: Command): void {
  disks
    .command('cordon')
    .argument('<targets...>', 'node/NAME, disk/UUID or NODE/DISK')
    .description('keep new replicas and copies away from nodes or disks')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks cordon n1/ssd
  stowage disks list --selector old -o name | xargs stowage disks cordon

What is there stays, and may grow. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (targets, options) => {
      const { setDisksCordoned } = await import('./cordon.ts');
      await setDisksCordoned(targets, true, options);
    });
}

function addUncordonDisks(disks: Command): void {
  disks
    .command('uncordon')
    .argument('<targets...>', 'node/NAME, disk/UUID or NODE/DISK')
    .description('let nodes or disks take new replicas and copies again')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks uncordon n1/ssd

An eviction goes on; evict --undo ends it. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (targets, options) => {
      const { setDisksCordoned } = await import('./cordon.ts');
      await setDisksCordoned(targets, false, options);
    });
}

function addRemoveDisk(disks: Command): void {
  disks
    .command('remove')
    .argument('<disk>', 'NODE/DISK or disk/UUID')
    .description('remove an empty disk from its StorageNode, or give up a disk that is dead')
    .option('--force', 'also a disk that does not answer, with everything that is on it')
    .option('--yes', 'do not ask before a disk is given up')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage disks evict n1/ssd --wait && stowage disks remove n1/ssd
  stowage disks remove n1/ssd --force      the disk is broken; names the volumes that are lost, and asks

A disk with replicas or copies is refused, and they are listed; a disk that answers is never given up. Files on the disk
are not erased. Exit status: 0 on success, 1 on an error or if the disk is not empty, 2 on wrong usage.`,
    )
    .action(async (disk, options) => {
      const { removeDisk } = await import('./remove.ts');
      await removeDisk(disk, options);
    });
}
