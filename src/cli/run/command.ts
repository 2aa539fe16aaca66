import type { Command } from 'commander';
import { consoleServerOptions } from '../flags/console-options.ts';
import { addCsiOptions, addNodeDeploymentOptions } from '../flags/csi-options.ts';
import { collect, logFormat, logLevel, ofContext, toCluster, verbosely } from '../flags/shared-options.ts';

export function addRun(program: Command): void {
  const command = program
    .command('run')
    .description('run controllers on an existing cluster; of any number of replicas, one leads')
    .addOption(toCluster)
    .addOption(ofContext)
    .option('--config <file>', 'a StowageConfiguration file; flags override it')
    .option(
      '--controllers <list>',
      'the controllers to run: names, *, or -name for all but that one (default: scheduler; Kubernetes runs the others)',
    )
    .option(
      '--scheduler-name <name>',
      'schedule pods with this spec.schedulerName; may be repeated (default: stowage)',
      collect,
    )
    .option(
      '--profile <name>',
      'the rules to apply: stowage, or upstream for the verdicts of kube-scheduler (default: stowage)',
    )
    .option(
      '--leader-elect [bool]',
      'run only while holding the Lease (default); --leader-elect=false runs without one',
    )
    .option(
      '--lease-suffix <name>',
      'appended to the names of Leases, for installations that run the same controllers for different CSI drivers',
    )
    .option(
      '--allocation-only',
      'create volumes of disks.stowage.dev although no kubelet can mount them: they get bytes, and no data path',
    )
    .option('--http-address <host:port>', 'serve /healthz, /readyz and /metrics on this address')
    .option(
      '--feature-gates <list>',
      'feature gates to set, such as VolumeScheduling=false or CSIStorageCapacity=false',
    );
  consoleServerOptions(
    command
      .option(
        '--console',
        'serve the web console; each viewer signs in with a token and sees what it may list',
      )
      .option('--console-write', "let viewers carry out changes, with their tokens' rights"),
    '127.0.0.1:7445',
  );
  addNodeDeploymentOptions(addCsiOptions(command))
    .option('--disk-agent-address <host:port>', 'where disk-agent takes uploads (default: :7444)')
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

Each controller has a Lease stowage-NAME in kube-system. Ctrl-C stops it and releases its Leases.`,
    )
    .action(async (options) => {
      const { run } = await import('./run.ts');
      await run(options);
    });
}
