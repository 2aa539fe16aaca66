import type { Command } from 'commander';
import { consoleServerOptions } from '../flags/console-options.ts';
import { logFormat, logLevel, verbosely } from '../flags/shared-options.ts';

export function addConsole(program: Command): void {
  const command = program
    .command('console')
    .description('show a snapshot in the web console; up and run --console show a live cluster')
    .argument('<file...>', 'files of stowage snapshot, or of kubectl get -o yaml');
  consoleServerOptions(command, '127.0.0.1, a free port')
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage console today.json            prints the address, with a token
  stowage console today.json --console-address 127.0.0.1:7445

The certificate is made for this run, so the browser asks whether to trust it. Ctrl-C stops it.`,
    )
    .action(async (files, options) => {
      const { frozenConsole } = await import('./run.ts');
      await frozenConsole(files, options);
    });
}
