import type { Command } from 'commander';
import { fromCluster, fromFiles, ofContext, ofFormat, verbosely, watching } from '../flags/shared-options.ts';

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description(
      'explain why pods are pending and what would help, why a pod is on its node, or what a claim waits for',
    )
    .argument(
      '[kind]',
      'pod, claim, deployment, statefulset or replicaset; the name of a pod also works alone; without it: all pending pods',
    )
    .argument('[name]', 'its name, or NAMESPACE/NAME; KIND/NAME also works')
    .option(
      '-n, --namespace <name>',
      'the namespace (default: that of the context, or default; for all pending pods: all namespaces)',
    )
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .option(
      '--profile <name>',
      "the rules to apply: stowage or upstream (default: those of the pod's scheduler)",
    )
    .addOption(ofFormat)
    .addOption(watching)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage explain                           all pending pods by cause, and what helps most of them
  stowage explain pod db-0 -n shop          why is it pending?
  stowage explain --watch                   the same, kept up to date
  stowage explain statefulset shop/db       its pods: running, pending, not created
  stowage explain claim shop/data-db-0      what does it wait for?
  kubectl get nodes,pods,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities,leases -A -o json |
    stowage explain pod shop/db-0 --from -
  kubectl describe $(stowage explain pod shop/db-0 -o name)     the node that it is on, or would go to

Exit status: 0 if it fits or is placed, 3 if it does not fit, waits for a volume, or its scheduler says otherwise;
for many pods 3 if any is pending for a cause; 1 on an error, 2 on wrong usage.`,
    )
    .action(async (kind, name, options) => {
      const { explainCommand } = await import('./run.ts');
      await explainCommand(kind, name, options);
    });
}
