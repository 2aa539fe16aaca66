import type { Command } from 'commander';
import { collect, logFormat, logLevel, ofContext, toCluster, verbosely } from './shared-options.ts';

export function addRun(program: Command): void {
  program
    .command('run')
    .description('run controllers on a cluster that is there; as many replicas as you like, one leads')
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--config <file>', 'a StowageConfiguration; flags win over what it says')
    .option(
      '--controllers <list>',
      'which controllers run: names, *, or -name for all but that (default: scheduler; Kubernetes has the others)',
    )
    .option(
      '--scheduler-name <name>',
      'schedule the pods that name it in spec.schedulerName; may be repeated (default: stowage)',
      collect,
    )
    .option(
      '--profile <name>',
      'what to decide by: stowage, or upstream for the verdicts of kube-scheduler (default: stowage)',
    )
    .option(
      '--leader-elect [bool]',
      'run only while holding the Lease (default); --leader-elect=false runs at once',
    )
    .option('--http-address <host:port>', 'serve /healthz, /readyz and /metrics here')
    .option('--feature-gates <list>', 'what to switch, such as VolumeScheduling=false')
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage run                                       the scheduler, for pods with schedulerName: stowage
  stowage run --kubeconfig admin.conf --scheduler-name stowage --scheduler-name batch
  stowage run --config stowage.yaml --http-address :9808

Leases are in kube-system, stowage-NAME for each controller. It ends with Ctrl-C and gives them back.`,
    )
    .action(async (options) => {
      const { run } = await import('../run.ts');
      await run(options);
    });
}
