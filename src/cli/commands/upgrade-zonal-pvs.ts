import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from './shared-options.ts';

export function addUpgradeZonalPvs(program: Command): void {
  program
    .command('upgrade-zonal-pvs')
    .description(
      'give zonal volumes that only have labels a node affinity; shows what it would do unless told otherwise',
    )
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--dry-run [bool]', 'only show; --dry-run=false writes', true)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage upgrade-zonal-pvs                   what would be done
  stowage upgrade-zonal-pvs --dry-run=false   do it

Exit status: 0 all of it was done or would be, 1 an error or a volume that has to be corrected first, 2 a call
that makes no sense.`,
    )
    .action(async (options) => {
      const { upgradeZonalPvs } = await import('../upgrade-zonal-pvs.ts');
      await upgradeZonalPvs(options);
    });
}
