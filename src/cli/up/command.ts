import type { Command } from 'commander';
import { addCsiOptions } from '../flags/csi-options.ts';
import { logOf } from '../flags/log-flags.ts';
import { collect, logFormat, logLevel, verbosely } from '../flags/shared-options.ts';

export function addUp(program: Command): void {
  const command = program
    .command('up')
    .description('start a Kubernetes API server and controllers on this machine')
    .option('--data <dir>', 'the data directory', '.stowage')
    .option('--port <n>', 'the port of the API server; 0 picks a free one', '7443')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option(
      '--kubeconfig <file>',
      'where to write the kubeconfig (default: kubeconfig in the data directory)',
    )
    .option(
      '--controllers <list>',
      'the controllers to run: *, none, names, or -name for all but that one',
      '*',
    )
    .option(
      '--feature-gates <list>',
      'feature gates to set, such as VolumeScheduling=false or CSIStorageCapacity=false',
      '',
    )
    .option('--no-console', 'do not serve the web console')
    .option('--console-write', 'let the console carry out changes; without it, it only shows')
    .option(
      '--console-host <name>',
      'a name by which browsers reach the console, besides addresses and localhost; may be repeated',
      collect,
    )
    .option('--nodes <n>', 'create simulated nodes, node-1 to node-<n>, if missing')
    .option('--zones <n>', 'spread the nodes of --nodes over this many zones (default: 1)')
    .option('--demo', 'load a small zoned cluster with running and pending pods')
    .option('--fresh', 'delete the data directory and start over');
  addCsiOptions(command)
    .option('--csi-node <node=address>', 'the CSI node plugin of a simulated node; may be repeated', collect)
    .option(
      '--drive-topology-keys <list>',
      'labels of Nodes that are topology segments of their drives beside zone and region, such as example.com/rack',
    )
    .option(
      '--storage-node <node=dir>',
      'keep the replicas and images of a storage node as files in this directory; may be repeated',
      collect,
    )
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage up                          data in .stowage, port 7443
  stowage up --demo                   with a small cluster to look at
  stowage up --nodes 6 --zones 3      with six simulated nodes in three zones
  stowage up --port 0 --data /tmp/a   a second cluster
  stowage up --controllers none       an API server without controllers

When the server answers, it prints the line that configures kubectl:
  export KUBECONFIG=/path/to/kubeconfig
and the address of the web console.
Ctrl-C stops it; the next start continues with the same data. Nodes and containers are simulated.`,
    )
    .action(async (options) => {
      // Before the modules of the server are loaded: on a slow machine this takes many seconds.
      logOf(options).info(`starting an API server and controllers, data in ${options.data}`);
      const { up } = await import('./run.ts');
      await up(options);
    });
}
