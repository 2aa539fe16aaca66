import type { Command } from 'commander';
import { logFormat, logLevel, ofContext, toCluster, verbosely } from './shared-options.ts';

export function addCsi(program: Command): void {
  program
    .command('csi')
    .description('serve drives.stowage.dev, the CSI driver for local drives')
    .addOption(toCluster)
    .addOption(ofContext)
    .requiredOption('--endpoint <address>', 'the socket to listen at, as unix:///PATH')
    .option('--node-name <name>', 'the node that it runs on, for the node service')
    .option(
      '--services <list>',
      'the services to serve: controller, node; the node service does not exist yet',
      'controller,node',
    )
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage csi --endpoint unix:///run/stowage/csi.sock --services controller
  stowage run --controllers provisioner --csi-address unix:///run/stowage/csi.sock

Of several processes one answers, by the Lease stowage-drives in kube-system; the others are not ready.`,
    )
    .action(async (options) => {
      const { csi } = await import('../csi.ts');
      await csi(options);
    });
}
