import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

export function addEvict(disks: Command): void {
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

export function addCordonDisks(disks: Command): void {
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

export function addUncordonDisks(disks: Command): void {
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

export function addRemoveDisk(disks: Command): void {
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
