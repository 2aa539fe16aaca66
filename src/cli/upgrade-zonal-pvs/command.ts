import type { Command } from 'commander';
import { ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

export function addUpgradeZonalPvs(program: Command): void {
  program
    .command('upgrade-zonal-pvs')
    .description(
      'give zonal volumes that have only zone labels a node affinity; only shows the changes by default',
    )
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--dry-run [bool]', 'only show the changes; --dry-run=false makes them', true)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage upgrade-zonal-pvs                   show the changes
  stowage upgrade-zonal-pvs --dry-run=false   make them

Exit status: 0 if all volumes were or can be upgraded, 1 on an error or if a volume must be corrected first,
2 on wrong usage.`,
    )
    .action(async (options) => {
      const { upgradeZonalPvs } = await import('./run.ts');
      await upgradeZonalPvs(options);
    });
}
