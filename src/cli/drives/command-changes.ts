import type { Command } from 'commander';
import { ofContext, toCluster, verbosely } from '../flags/shared-options.ts';

/** `label`, `tier`, `cordon` and `uncordon`. */
export function addChanges(drives: Command): void {
  addLabel(drives);
  addTier(drives);
  addCordon(drives);
  addUncordon(drives);
}

function addLabel(drives: Command): void {
  withCluster(drives.command('label'))
    .argument('<drive>', 'the name of the drive')
    .argument('<labels...>', 'KEY=VALUE sets a label, KEY- removes it')
    .description('set or remove labels of a drive, which classes can ask for')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives label n1-b7f6c1de rack=r1
  stowage drives label n1-b7f6c1de rack-           removes the label

Labels of stowage.dev and kubernetes.io are reserved. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (drive, labels, options) => {
      const { setLabels } = await import('./change.ts');
      await setLabels(drive, labels, options);
    });
}

function addTier(drives: Command): void {
  withCluster(drives.command('tier'))
    .argument('<drive>', 'the name of the drive')
    .argument('<tier>', 'Default, Hot, Warm or Cold')
    .description('set the access tier of a drive, which classes can ask for')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives tier n1-b7f6c1de Hot

Volumes that are on the drive stay there. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (drive, tier, options) => {
      const { setTier } = await import('./change.ts');
      await setTier(drive, tier, options);
    });
}

function addCordon(drives: Command): void {
  withCluster(drives.command('cordon'))
    .argument('<drives...>', 'the names of the drives')
    .description('keep new volumes away from drives')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives cordon n1-b7f6c1de
  stowage drives list --node n1 -o name | xargs stowage drives cordon

Volumes that are there stay, and may grow. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { setCordoned } = await import('./change.ts');
      await setCordoned(names, true, options);
    });
}

function addUncordon(drives: Command): void {
  withCluster(drives.command('uncordon'))
    .argument('<drives...>', 'the names of the drives')
    .description('let drives take new volumes again')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives uncordon n1-b7f6c1de

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { setCordoned } = await import('./change.ts');
      await setCordoned(names, false, options);
    });
}

function withCluster(command: Command): Command {
  return command.addOption(toCluster).addOption(ofContext).addOption(verbosely);
}
