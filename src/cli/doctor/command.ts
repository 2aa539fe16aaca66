import { type Command, Option } from 'commander';
import { fromCluster, ofContext, ofFormat, verbosely } from '../flags/shared-options.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('examine a cluster before or after the installation, and say what to do about what is wrong')
    .addOption(
      new Option(
        '--fail-on <severity>',
        'exit with 3 if there is a finding of this severity or above: error, warning, info or never',
      ).default('error'),
    )
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage doctor                        versions, drivers, classes, rights, clocks, components, drives and disks
  stowage doctor -o wide                every finding
  stowage doctor --fail-on warning && helm install stowage deploy/chart
  stowage doctor -o json | jq '.findings[].code'

Checks that need rights that you lack are listed as not made. Every code is explained in docs/doctor.md.

Exit status: 0 if there is no finding of the given severity, 3 if there is one, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { doctor } = await import('./run.ts');
      await doctor(options);
    });
}
