import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from '../shared-options.ts';

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
      const { removeDrives } = await import('../../drives/remove.ts');
      await removeDrives(names, options);
    });
}

export function addForget(drives: Command): void {
  drives
    .command('forget')
    .argument('<node>', 'a node that is gone for good')
    .description('show what is lost with a node that is gone, and remove its drives once that was reviewed')
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
  stowage drives forget n1                            shows what is lost, and asks
  stowage drives forget n1 --output-file lost.yaml    for review: which claims to delete
  stowage drives forget n1 --list lost.yaml

PersistentVolumes and claims are deleted only where the file says so. A node that still exists is refused. Exit status: 0
on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (node, options) => {
      const { forget } = await import('../../drives/forget/forget.ts');
      await forget(node, options);
    });
}
