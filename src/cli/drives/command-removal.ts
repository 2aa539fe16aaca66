import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

export function addRemove(drives: Command): void {
  drives
    .command('remove')
    .argument('<drives...>', 'the names of the drives')
    .description('cordon drives without volumes, and remove their objects; nothing on the devices is erased')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives remove n1-b7f6c1de

A drive with volumes is refused, and they are listed. The node service unmounts the device. Exit status: 0 on success,
1 on an error or if a drive has volumes, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { removeDrives } = await import('./remove.ts');
      await removeDrives(names, options);
    });
}

export function addForget(drives: Command): void {
  drives
    .command('forget')
    .argument('<target>', 'a drive that is dead, or a node that is gone for good')
    .description('show what is lost with a dead drive or node, and remove its Drives once that was reviewed')
    .option('--output-file <file>', 'only write the list of what is lost, for review')
    .option('--list <file>', 'act on this list, and on nothing else')
    .option('--yes', 'do not ask before the drives are removed')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives forget n1-b7f6c1de                   a dead drive of a node that works: shows what is lost, and asks
  stowage drives forget n1                            a node that is gone, with all of its drives
  stowage drives forget n1 --output-file lost.yaml    for review: which claims to delete
  stowage drives forget n1 --list lost.yaml

drive/NAME and node/NAME say which is meant. PersistentVolumes and claims are deleted only where the file says so. Nothing
on the device is erased. A node that still exists is refused, and so is a drive of it that is neither Lost nor in Error. Exit
status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (target, options) => {
      const { forget } = await import('./forget/forget.ts');
      await forget(target, options);
    });
}
