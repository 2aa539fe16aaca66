import type { Command } from 'commander';

/** The completion scripts call this while a user types. */
export function addNames(program: Command): void {
  program
    .command('__names', { hidden: true })
    .argument('<wanted>')
    .argument('[words...]')
    .action(async (wanted, words) => {
      const { printObjectNames } = await import('./run.ts');
      await printObjectNames(wanted, words);
    });
}
