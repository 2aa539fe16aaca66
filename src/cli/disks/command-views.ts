import type { Command } from 'commander';
import { fromCluster, ofContext, ofFormat, verbosely } from '../flags/shared-options.ts';

export function addListDisks(disks: Command): void {
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

export function addDescribe(disks: Command): void {
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
