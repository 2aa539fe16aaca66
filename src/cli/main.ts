#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../io/package-version.ts';
import { CliError } from './cli-error.ts';
import { addCapacity } from './commands/capacity.ts';
import { addCompletion } from './commands/completion.ts';
import { addExplain } from './commands/explain.ts';
import { addExtender } from './commands/extender.ts';
import { addKubeconfig } from './commands/kubeconfig.ts';
import { addNames } from './commands/names.ts';
import { addReservations } from './commands/reservations.ts';
import { addRun } from './commands/run.ts';
import { addUp } from './commands/up.ts';
import { addUpgradeZonalPvs } from './commands/upgrade-zonal-pvs.ts';
import { errorText } from './error-text.ts';

/** Exit status 2 is for calls we don't understand, as in most Unix tools. */
const usageError = 2;
/** Longer lines don't read well. */
const helpWidthMax = 100;
/** Of what flags do, beside their names; narrower, lines are let run over. */
const helpWidthMin = 20;

const program = new Command('stowage')
  .description('Decides where Kubernetes pods and their volumes go, together.')
  .version(packageVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .configureHelp({
    helpWidth: Math.min(process.stdout.columns ?? helpWidthMax, helpWidthMax),
    minWidthToWrap: helpWidthMin,
  })
  .showSuggestionAfterError()
  .showHelpAfterError('see stowage --help')
  .exitOverride();

addUp(program);
addRun(program);
addExtender(program);
addExplain(program);
addReservations(program);
addCapacity(program);
addUpgradeZonalPvs(program);
addKubeconfig(program);
addCompletion(program);
addNames(program);

// Whoever reads may have seen enough, as in `stowage capacity | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

for (const command of program.commands) command.showHelpAfterError(`see ${helpOf(command)}`);

let isVerbose = false;
let help = 'stowage --help';
program.hook('preAction', (_, command) => {
  isVerbose = command.opts().verbose === true;
  help = helpOf(command);
});
try {
  await program.parseAsync();
} catch (error) {
  // Not only the status: what was begun before it failed may not come to an end.
  process.exit(report(error));
}

function helpOf(command: Command): string {
  return `stowage ${command.name()} --help`;
}

function report(error: unknown): number {
  // Commander has printed its own complaints, and help, by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
  process.stderr.write(errorText(error, { isVerbose, help }));
  return error instanceof CliError ? error.exitCode : 1;
}
