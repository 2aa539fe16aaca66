import type { Command } from 'commander';
import { fromCluster, fromFiles, ofContext, ofFormat, verbosely } from './shared-options.ts';

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description(
      'explain why a pod is pending and what would help, or why it is on its node; or what a claim waits for',
    )
    .argument('<kind>', 'pod or claim')
    .argument('[name]', 'its name, or NAMESPACE/NAME; KIND/NAME also works')
    .option('-n, --namespace <name>', 'its namespace (default: that of the context, or default)')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .option(
      '--profile <name>',
      "the rules to apply: stowage or upstream (default: by the pod's schedulerName)",
    )
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage explain pod db-0 -n shop          why is it pending?
  stowage explain claim shop/data-db-0      what does it wait for?
  kubectl get nodes,pods,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities -A -o json |
    stowage explain pod shop/db-0 --from -
  kubectl describe $(stowage explain pod shop/db-0 -o name)     the node that it is on, or would go to

Exit status: 0 if it fits or is placed, 3 if it does not fit, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (kind, name, options) => {
      const { explain } = await import('../explain/explain.ts');
      await explain(kind, name, options);
    });
}
