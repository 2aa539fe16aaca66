import type { Command } from 'commander';
import { fromCluster, ofContext, ofFormat, verbosely } from '../flags/shared-options.ts';

export function addList(drives: Command): void {
  drives
    .command('list')
    .argument('[what]', 'drives or volumes', 'drives')
    .description('show drives with what is used, promised and free, or the volumes on them')
    .option('--node <name>', 'only the drives of this node')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives list                   all drives, with bars on a terminal
  stowage drives list -o wide           with devices, filesystems and labels
  stowage drives list volumes --node n1
  stowage drives list -o name | xargs stowage drives cordon

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (what, options) => {
      const { listDrives } = await import('./list.ts');
      await listDrives(what, options);
    });
}

export function addInfo(drives: Command): void {
  drives
    .command('info')
    .argument('[volume]', 'a volume, or a claim as NAMESPACE/NAME (default: what each node has)')
    .description('show where a volume is, or what each node has')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives info                     each node with its drives
  stowage drives info shop/data-db-0      drive, node, device, size and pods of a claim's volume

Exit status: 0 on success, 1 on an error or if no drive has the volume, 2 on wrong usage.`,
    )
    .action(async (volume, options) => {
      const { driveInfo } = await import('./info.ts');
      await driveInfo(volume, options);
    });
}
