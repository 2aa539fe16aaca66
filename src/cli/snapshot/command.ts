import type { Command } from 'commander';
import { fromCluster, ofContext, verbosely } from '../flags/shared-options.ts';

export function addSnapshot(program: Command): void {
  program
    .command('snapshot')
    .description('write the state of a cluster to a file, without secrets, to look at it later or elsewhere')
    .argument('<file>', 'where to write it')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage snapshot today.json           everything that you may list
  stowage console today.json            opens it in the web console
  stowage explain --from today.json     every command with --from reads it

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (file, options) => {
      const { snapshot } = await import('./run.ts');
      await snapshot(file, options);
    });
}
