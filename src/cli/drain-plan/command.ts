import type { Command } from 'commander';
import { byRules, fromCluster, fromFiles, ofContext, ofFormat, verbosely } from '../flags/shared-options.ts';

export function addDrainPlan(program: Command): void {
  program
    .command('drain-plan')
    .argument('<target>', 'NODE, node/NAME or drive/NAME')
    .description(
      'show in which order a node or a drive can be emptied: which pods stop, what is copied and where to, what cannot move and why; nothing is written',
    )
    .addOption(byRules)
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drain-plan n1
  stowage drain-plan drive/n1-b7f6c1de
  stowage drain-plan node/n1 -o json | jq '.left[].name'

stowage move carries it out. Exit status: 0 if nothing is left in the end, 3 if something is left that Stowage cannot move, or if
not everything could be read; 1 on an error, 2 on wrong usage.`,
    )
    .action(async (target, options) => {
      const { drainPlanCommand } = await import('./run.ts');
      await drainPlanCommand(target, options);
    });
}
