import type { Command } from 'commander';
import { logFormat, logLevel, verbosely } from './shared-options.ts';

export function addUp(program: Command): void {
  program
    .command('up')
    .description('start a Kubernetes API server on this machine; kubectl talks to it')
    .option('--data <dir>', 'where everything is kept', '.stowage')
    .option('--port <n>', 'the port of the API; 0 picks a free one', '7443')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option(
      '--kubeconfig <file>',
      'where to write the kubeconfig (default: kubeconfig in the data directory)',
    )
    .option('--controllers <list>', 'which controllers run: *, none, names, or -name for all but that', '*')
    .option('--feature-gates <list>', 'what to switch, such as VolumeScheduling=false', '')
    .option('--no-console', 'do not serve the web console')
    .option('--demo', 'load a small zoned cluster with pods that run and pods that fit nowhere')
    .option('--fresh', 'delete what the data directory holds and start over')
    .addOption(logFormat)
    .addOption(logLevel)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage up                          data in .stowage, port 7443
  stowage up --demo                   with something to look at
  stowage up --port 0 --data /tmp/a   a second one beside it
  stowage up --controllers none       a bare API server, as kube-apiserver alone would be

When it answers, it prints the line that makes kubectl talk to it:
  export KUBECONFIG=/path/to/kubeconfig
It ends with Ctrl-C; the next start goes on where this one was.`,
    )
    .action(async (options) => {
      const { up } = await import('../up.ts');
      await up(options);
    });
}
