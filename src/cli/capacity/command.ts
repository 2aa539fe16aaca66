import type { Command } from 'commander';
import { fromCluster, fromFiles, ofContext, ofFormat, verbosely, watching } from '../flags/shared-options.ts';

export function addCapacity(program: Command): void {
  program
    .command('capacity')
    .description('show the storage capacity by class, pool and node, and how much of it is promised')
    .option('--class <name>', 'show only this StorageClass')
    .option('--drift', 'show how the figures of drivers differ from the known volumes, and what can be done')
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
  stowage capacity                   classes, pools and existing volumes, with bars on a terminal
  stowage capacity --class fast -o json
  stowage capacity --watch           the same, kept up to date
  stowage capacity --drift           what drivers report and the known volumes do not explain
  kubectl get nodes,pvc,pv,sc,csidrivers,csistoragecapacities -A -o json | stowage capacity --from -

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { capacityCommand } = await import('./run.ts');
      await capacityCommand(options);
    });
}
