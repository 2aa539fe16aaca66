import type { Command } from 'commander';
import {
  byRules,
  fromCluster,
  fromFiles,
  ofContext,
  ofFormat,
  verbosely,
  watching,
} from '../flags/shared-options.ts';

export function addHeadroom(program: Command): void {
  program
    .command('headroom')
    .description(
      'show how much more fits now: for each class the largest claim and how many of a size, or how many more replicas of a StatefulSet; and what runs out first',
    )
    .option('--class <name>', 'only this StorageClass')
    .option('--size <size>', 'the size of the claims to count (default: 10Gi)')
    .option('--like <workload>', 'count replicas of this StatefulSet instead: sts/[NAMESPACE/]NAME')
    .option('--max <count>', 'stop counting here (default: 1000)')
    .option('-n, --namespace <name>', 'the namespace of a name without one')
    .addOption(byRules)
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .addOption(ofFormat)
    .addOption(watching)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage headroom                           each class: the largest claim, and how many of 10Gi
  stowage headroom --class fast --size 100Gi
  stowage headroom --like sts/shop/db        how many more replicas fit, and what runs out first
  stowage headroom --watch

Exit status: 0 on success, 3 if --class or --like names what nothing more of fits; 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { headroomCommand } = await import('./run.ts');
      await headroomCommand(options);
    });
}
