import type { Command } from 'commander';
import { addCordonDisks, addEvict, addRemoveDisk, addUncordonDisks } from './command-changes.ts';
import { addImages } from './command-images.ts';
import { addDescribe, addListDisks } from './command-views.ts';

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
