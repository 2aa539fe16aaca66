import type { Command } from 'commander';
import { collect, logFormat, logLevel, ofContext, toCluster, verbosely } from '../flags/shared-options.ts';

export function addExtender(program: Command): void {
  program
    .command('extender')
    .description("serve kube-scheduler's extender protocol: filter and score nodes by a pod's volumes")
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--listen <address:port>', 'where to listen; port 0 picks a free one', '127.0.0.1:8900')
    .option('--data <dir>', 'the directory for the self-signed certificate', '.stowage-extender')
    .option('--tls-host <name>', 'a further host name in that certificate; may be repeated', collect, [])
    .option('--tls-cert <file>', 'your own certificate; requires --tls-key')
    .option('--tls-key <file>', 'the key of --tls-cert')
    .option(
      '--client-ca <file>',
      'accept only clients with a certificate of this authority, and bind pods for them',
    )
    .option('--insecure', 'serve plain HTTP, for experiments; binding is disabled')
    .option('--all-rules', 'apply all rules to nodes, not only those about volumes')
    .option('--hold-seconds <n>', 'how long capacity stays reserved for a pod without further requests', '30')
    .option(
      '--feature-gates <list>',
      'feature gates to set, such as VolumeScheduling=false or CSIStorageCapacity=false',
      '',
    )
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage extender --kubeconfig admin.conf
  stowage extender --listen :8900 --tls-host stowage.kube-system.svc --client-ca ca.crt

Configure kube-scheduler to use it as in examples/extender/kube-scheduler.yaml.`,
    )
    .action(async (options) => {
      const { extender } = await import('./run.ts');
      await extender(options);
    });
}
