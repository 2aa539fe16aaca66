import type { Command } from 'commander';
import { logFormat, logLevel, ofContext, toCluster, verbosely } from '../flags/shared-options.ts';

export function addCsi(program: Command): void {
  program
    .command('csi')
    .description('serve drives.stowage.dev, the CSI driver for local drives')
    .addOption(toCluster)
    .addOption(ofContext)
    .requiredOption('--endpoint <address>', 'the socket to listen at, as unix:///PATH')
    .option('--node-name <name>', 'the node that it runs on, for the node service')
    .option('--services <list>', 'the services to serve: controller, node', 'controller,node')
    .option('--drives-root <folder>', 'where the node service mounts drives', '/var/lib/stowage/drives')
    .option(
      '--topology-keys <list>',
      'labels of the Node that are topology segments of its drives beside zone and region, such as example.com/rack',
    )
    .option(
      '--unenforced-quota',
      'start on a kernel without XFS project quota: volumes may exceed their size',
    )
    .option(
      '--kubelet-registration <folder>',
      'register with the kubelet that watches this folder, /var/lib/kubelet/plugins_registry',
    )
    .option(
      '--kubelet-endpoint <address>',
      'where the kubelet sees the socket, if this process runs in a container (default: the endpoint)',
    )
    .option('--http-address <host:port>', 'serve /healthz, /readyz and /metrics on this address')
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage csi --endpoint unix:///run/stowage/csi.sock --node-name n1
  stowage csi --endpoint unix:///run/stowage/csi.sock --node-name n1 --services node
  stowage csi --endpoint unix:///run/stowage/csi.sock --services controller

Of several processes one answers for the controller, by the Lease stowage-drives in kube-system.
The node service needs root. Its socket appears when the node's drives are mounted.`,
    )
    .action(async (options) => {
      const { csi } = await import('./run.ts');
      await csi(options);
    });
}
