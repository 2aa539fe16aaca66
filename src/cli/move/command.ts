import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

export function addDrainMove(program: Command): void {
  program
    .command('move')
    .argument('<target>', 'NODE, node/NAME or drive/NAME')
    .description('empty a node or a drive step by step, as drain-plan shows; called again, it goes on')
    .option('--dry-run', 'print the plan, and change nothing')
    .option('-y, --yes', 'do not ask')
    .option('--timeout <duration>', 'how long to wait for pods and replicas (default: 10m)')
    .option('--undo', 'cancel the move of a drive: uncordon what the move has cordoned')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage move n1 --dry-run
  stowage move n1 --yes --timeout 1h
  stowage move n1 --yes -o json | jq .state
  stowage move drive/n1-b7f6c1de
  stowage move drive/n1-b7f6c1de --undo

A node: cordons it, evicts its disks, waits until the new replicas have the data, and evicts the pods that have another node.
A drive: cordons it, its targets and its node, and stops the pods; run by root on that node it copies the volumes too, elsewhere it
prints the command for that node. Exit status: 0 when it is empty, 3 if something is left, has to be waited for, or has to be run on a
node; 1 on an error, 2 on wrong usage.`,
    )
    .action(async (target, options) => {
      const { moveCommand } = await import('./run.ts');
      await moveCommand(target, options);
    });
}
