import type { Command } from 'commander';
import { fromCluster, fromFiles, ofContext, ofFormat, verbosely } from './shared-options.ts';

export function addReservations(program: Command): void {
  program
    .command('reservations')
    .description(
      'who holds what: volumes of claims, claims in flight, what pools have promised, nominated pods',
    )
    .option('-n, --namespace <name>', 'only what claims and pods of this namespace hold (default: all)')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage reservations                     everything that is held or promised
  stowage reservations -n shop -o wide     of one namespace, with classes, phases and pods
  stowage reservations -o name | xargs -L1 stowage explain

Exit status: 0 an answer, 1 an error, 2 a call that makes no sense.`,
    )
    .action(async (options) => {
      const { reservations } = await import('../reservations/reservations.ts');
      await reservations(options);
    });
}
