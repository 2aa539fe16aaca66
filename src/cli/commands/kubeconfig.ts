import type { Command } from 'commander';
import { ofContext, toCluster, verbosely } from './shared-options.ts';

export function addKubeconfig(program: Command): void {
  program
    .command('kubeconfig')
    .description('print a kubeconfig for a service account, with a token that ends by itself')
    .argument('<account>', 'its name, or NAMESPACE/NAME')
    .option('-n, --namespace <name>', 'its namespace (default: that of the context, or default)')
    .option('--duration <time>', 'how long the token lasts, such as 90m, 24h or 7d; 10m at least', '24h')
    .option(
      '--to <file>',
      'write it here, for you alone to read, instead of printing it; a file that is there is replaced',
    )
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  kubectl create serviceaccount robot -n shop
  kubectl create rolebinding robot --clusterrole=view --serviceaccount=shop:robot -n shop
  stowage kubeconfig robot -n shop --to robot.kubeconfig
  kubectl --kubeconfig robot.kubeconfig get pods

The token cannot be taken back but by deleting the service account.

Exit status: 0 it is there, 1 an error, 2 a call that makes no sense.`,
    )
    .action(async (account, options) => {
      const { kubeconfig } = await import('../kubeconfig/kubeconfig.ts');
      await kubeconfig(account, options);
    });
}
