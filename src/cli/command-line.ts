import { Command, CommanderError } from 'commander';
import { packageVersion } from '../io/files/package-version.ts';
import { addBundle } from './bundle/command.ts';
import { addCapacity } from './capacity/command.ts';
import { addCompletion } from './completion/command.ts';
import { addConsole } from './console/command.ts';
import { addCsi } from './csi/command.ts';
import { addDisks } from './disks/command.ts';
import { addDoctor } from './doctor/command.ts';
import { addDrainPlan } from './drain-plan/command.ts';
import { addDrives } from './drives/command.ts';
import { CliError } from './errors/cli-error.ts';
import { errorText } from './errors/error-text.ts';
import { addExplain } from './explain/command.ts';
import { addExtender } from './extender/command.ts';
import { addHeadroom } from './headroom/command.ts';
import { addKubeconfig } from './kubeconfig/command.ts';
import { addDrainMove } from './move/command.ts';
import { addNames } from './names/command.ts';
import { addPlan } from './plan/command.ts';
import { addReservations } from './reservations/command.ts';
import { addRun } from './run/command.ts';
import { addSimulate } from './simulate/command.ts';
import { addSnapshot } from './snapshot/command.ts';
import { addUp } from './up/command.ts';
import { addUpgradeZonalPvs } from './upgrade-zonal-pvs/command.ts';

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
