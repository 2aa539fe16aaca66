import type { Command } from 'commander';
import { collect, logFormat, logLevel, ofContext, toCluster, verbosely } from './shared-options.ts';

export function addExtender(program: Command): void {
  program
    .command('extender')
    .description("answer a kube-scheduler: which nodes a pod's volumes admit, in its extender protocol")
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--listen <address:port>', 'where to listen; port 0 picks a free one', '127.0.0.1:8900')
    .option('--data <dir>', 'where the certificate is kept that it makes for itself', '.stowage-extender')
    .option('--tls-host <name>', 'another name for that certificate; may be repeated', collect, [])
    .option('--tls-cert <file>', 'a certificate of your own, with --tls-key')
    .option('--tls-key <file>', 'the key of --tls-cert')
    .option(
      '--client-ca <file>',
      'answer only callers with a certificate of this authority, and bind for them',
    )
    .option('--insecure', 'plain HTTP, for trying things out; nobody may bind')
    .option('--all-rules', 'judge nodes by all rules, not only those about volumes')
    .option('--hold-seconds <n>', 'how long room is kept for a pod that nothing is heard of', '30')
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage extender --kubeconfig admin.conf
  stowage extender --listen :8900 --tls-host stowage.kube-system.svc --client-ca ca.crt

kube-scheduler is told of it in its configuration file; see examples/extender/kube-scheduler.yaml.`,
    )
    .action(async (options) => {
      const { extender } = await import('../extender.ts');
      await extender(options);
    });
}
