import type { Command } from 'commander';
import { fromCluster, fromFiles, ofContext, ofFormat, verbosely } from '../flags/shared-options.ts';

export function addReservations(program: Command): void {
  program
    .command('reservations')
    .description(
      'show what is reserved: volumes of claims, claims in flight, promises of pools, nominated pods',
    )
    .option(
      '-n, --namespace <name>',
      'show only reservations of claims and pods in this namespace (default: all)',
    )
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage reservations                     all reservations
  stowage reservations -n shop -o wide     one namespace, with classes, phases and pods
  stowage reservations -o name | xargs -L1 stowage explain

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { reservationsCommand } = await import('./run.ts');
      await reservationsCommand(options);
    });
}
