import type { Command } from 'commander';
import { ofFormat } from '../flags/shared-options.ts';

export function addSimulate(program: Command): void {
  program
    .command('simulate')
    .description('run all controllers under virtual time with faults, and check what must always be true')
    .option('--seed <number>', 'run the scenario of this seed only')
    .option('--seeds <count>', 'how many seeds to run, from 1 (default: 20)')
    .option('--from <path>', 'replay the scenario in this file, or - for standard input (JSON or YAML)')
    .option('--trace', 'print everything that happened; with --seed or --from')
    .addOption(ofFormat)
    .addHelpText(
      'after',
      `
The scenario of a seed is the same on every machine, step by step. If an invariant is broken, the
output has the last steps before it, the smallest scenario that breaks it, and how to replay it.

Examples:
  stowage simulate                       twenty seeds
  stowage simulate --seed 7 --trace      one seed, step by step
  stowage simulate --from scenario.yaml  a scenario that was saved
  stowage simulate --seeds 500 -o name   only the seeds that break an invariant

Exit status: 0 if every invariant held, 1 if one was broken or on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { simulateCommand } = await import('./run.ts');
      await simulateCommand(options);
    });
}
