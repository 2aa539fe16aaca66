#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { CliError } from './cli-error.ts';
import { packageVersion } from './package-version.ts';

/** Exit status 2 is for calls we don't understand, as in most Unix tools. */
const usageError = 2;

const program = new Command('stowage')
  .description('Decides where Kubernetes pods and their volumes go, together.')
  .version(packageVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .configureHelp({ helpWidth: 100 })
  .showSuggestionAfterError()
  .showHelpAfterError('see stowage --help')
  .exitOverride();

program
  .command('up')
  .description('start a Kubernetes API server on this machine; kubectl talks to it')
  .option('--data <dir>', 'where everything is kept', '.stowage')
  .option('--port <n>', 'the port of the API; 0 picks a free one', '7443')
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--kubeconfig <file>', 'where to write the kubeconfig (default: kubeconfig in the data directory)')
  .option('--controllers <list>', 'which controllers run: *, none, names, or -name for all but that', '*')
  .option('--feature-gates <list>', 'what to switch, such as VolumeScheduling=false', '')
  .option('--no-console', 'do not serve the web console')
  .addHelpText(
    'after',
    `
Examples:
  stowage up                          data in .stowage, port 7443
  stowage up --port 0 --data /tmp/a   a second one beside it
  stowage up --controllers none       a bare API server, as kube-apiserver alone would be

When it answers, it prints the line that makes kubectl talk to it:
  export KUBECONFIG=/path/to/kubeconfig
It ends with Ctrl-C; the next start goes on where this one was.`,
  )
  .action(async (options) => {
    const { up } = await import('./up.ts');
    await up(options);
  });

program
  .command('upgrade-zonal-pvs')
  .description(
    'give zonal volumes that only have labels a node affinity; shows what it would do unless told otherwise',
  )
  .option('--kubeconfig <file>', 'the cluster (default: KUBECONFIG, or ~/.kube/config)')
  .option('--dry-run [bool]', 'only show; --dry-run=false writes', true)
  .addHelpText(
    'after',
    `
Examples:
  stowage upgrade-zonal-pvs                   what would be done
  stowage upgrade-zonal-pvs --dry-run=false   do it`,
  )
  .action(async (options) => {
    const { upgradeZonalPvs } = await import('./upgrade-zonal-pvs.ts');
    await upgradeZonalPvs(options);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // Commander has printed its own complaints, and help, by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
  if (error instanceof CliError) {
    process.stderr.write(`stowage: ${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(
    `stowage: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return 1;
}
