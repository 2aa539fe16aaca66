import { Command, CommanderError } from 'commander';
import { packageVersion } from '../io/files/package-version.ts';
import { CliError } from './cli-error.ts';
import { addBundle } from './commands/bundle.ts';
import { addCapacity } from './commands/capacity.ts';
import { addCompletion } from './commands/completion.ts';
import { addConsole } from './commands/console.ts';
import { addCsi } from './commands/csi.ts';
import { addDisks } from './commands/disks/disks.ts';
import { addDoctor } from './commands/doctor.ts';
import { addDrainPlan } from './commands/drain-plan.ts';
import { addDrives } from './commands/drives/drives.ts';
import { addExplain } from './commands/explain.ts';
import { addExtender } from './commands/extender.ts';
import { addHeadroom } from './commands/headroom.ts';
import { addKubeconfig } from './commands/kubeconfig.ts';
import { addDrainMove } from './commands/move.ts';
import { addNames } from './commands/names.ts';
import { addPlan } from './commands/plan.ts';
import { addReservations } from './commands/reservations.ts';
import { addRun } from './commands/run.ts';
import { addSimulate } from './commands/simulate.ts';
import { addSnapshot } from './commands/snapshot.ts';
import { addUp } from './commands/up.ts';
import { addUpgradeZonalPvs } from './commands/upgrade-zonal-pvs.ts';
import { errorText } from './error-text.ts';

/** Wrong usage, as in most Unix tools. */
const usageError = 2;
/** Longer lines are hard to read. */
const helpWidthMax = 100;
/** The narrowest column for descriptions of flags; on a narrower terminal, lines overflow. */
const helpWidthMin = 20;

/**
 * Runs one command line, such as `['capacity', '-o', 'json']`. Resolves with the exit status if the command has failed: then the process has to
 * exit, because work that was started before the failure may never end.
 */
export async function runCommandLine(args: readonly string[]): Promise<number | undefined> {
  const program = newProgram();
  let isVerbose = false;
  let help = 'stowage --help';
  program.hook('preAction', (_, command) => {
    isVerbose = command.opts().verbose === true;
    help = helpOf(command);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return undefined;
  } catch (error) {
    // Commander has already printed its own errors and help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
    process.stderr.write(errorText(error, { isVerbose, help }));
    return error instanceof CliError ? error.exitCode : 1;
  }
}

function newProgram(): Command {
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
  addCsi(program);
  addExplain(program);
  addPlan(program);
  addHeadroom(program);
  addDrainPlan(program);
  addDrainMove(program);
  addReservations(program);
  addCapacity(program);
  addDrives(program);
  addDisks(program);
  addDoctor(program);
  addBundle(program);
  addSimulate(program);
  addSnapshot(program);
  addConsole(program);
  addUpgradeZonalPvs(program);
  addKubeconfig(program);
  addCompletion(program);
  addNames(program);
  for (const command of commandsBelow(program)) command.showHelpAfterError(`see ${helpOf(command)}`);
  return program;
}

function commandsBelow(command: Command): readonly Command[] {
  return command.commands.flatMap((each) => [each, ...commandsBelow(each)]);
}

function helpOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return `${names.join(' ')} --help`;
}
