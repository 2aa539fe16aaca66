import type { Command } from 'commander';
import { ofContext, toCluster, verbosely } from '../flags/shared-options.ts';

export function addKubeconfig(program: Command): void {
  program
    .command('kubeconfig')
    .description('print a kubeconfig for a service account, with a token that expires')
    .argument('<account>', 'its name, or NAMESPACE/NAME')
    .option('-n, --namespace <name>', 'its namespace (default: that of the context, or default)')
    .option('--duration <time>', 'when the token expires, such as 90m, 24h or 7d; at least 10m', '24h')
    .option(
      '--to <file>',
      'write it to this file with mode 0600 instead of printing it; an existing file is replaced',
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

A token can only be revoked by deleting the service account.

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (account, options) => {
      const { kubeconfig } = await import('./run.ts');
      await kubeconfig(account, options);
    });
}
