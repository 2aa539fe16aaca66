import type { Cluster } from '../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { parseGoDuration } from '../../kube/go/duration.ts';
import { type DrainFacts, unreadKinds } from '../../queries/drain/drain-facts.ts';
import type { DrainPlanReport } from '../../queries/drain/drain-report.ts';
import { exitCodeOfDrain, makeDrainPlan } from '../../queries/drain/make-drain-plan.ts';
import { type DrainTarget, drainTargetText } from '../../queries/plan/drain-target.ts';
import { realClock } from '../../runtime/clock.ts';
import { renderedDrainPlan } from '../drain-plan/run.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { drainTargetArgument } from '../flags/change-flags.ts';
import { logForReading } from '../flags/log-flags.ts';
import { confirm } from '../output/confirm.ts';
import { type OutputFormat, outputFormatOf } from '../output/output-format.ts';
import { printLine } from '../output/print-line.ts';
import { progressOf } from '../output/progress-of.ts';
import { terminalOf } from '../output/terminal.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { disksIn } from '../source/load-disks.ts';
import { type DrivesFlags, withOwnKinds } from '../source/with-own-kinds.ts';
import { localCopier } from './local-copier.ts';
import type { MoveContext, MoveOutcome } from './move-context.ts';
import { moveDrive, openAfterMove } from './move-drive.ts';
import { moveNode } from './move-node.ts';
import { exitCodeOfMove, type MoveState, moveReportOf, renderedMove, unfinishedStatus } from './render.ts';

export interface MoveCommandFlags extends DrivesFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly timeout?: string;
  readonly output: string;
}

const timeoutDefaultMs = 10 * 60_000;

/** `stowage move`: empties a node or a drive step by step. */
export async function moveCommand(argument: string, flags: MoveCommandFlags): Promise<void> {
  const target = drainTargetArgument(argument);
  const format = outputFormatOf(flags.output);
  const timeoutMs = timeoutOf(flags.timeout);
  if (flags.undo === true && target.kind === 'node')
    throw usage(
      `--undo: is for drives; run kubectl uncordon ${target.name}, stowage disks evict node/${target.name} --undo, and stowage drives uncordon`,
    );
  const progress = progressOf(logForReading(flags));
  const output = new MoveOutput(format, () => progress.end());
  await withOwnKinds(flags, 'the kind Drive', async (cluster) => {
    if (flags.undo === true) {
      await giveUp(target.name, cluster, output.onChange);
      output.end(target, nothingLeft, output.hasChanges ? 'GivenUp' : 'NoMove');
      return;
    }
    const load = () => loadFacts(cluster);
    const facts = await load();
    const plan = makeDrainPlan(target, facts);
    output.plan(plan, flags.dryRun === true);
    if (flags.dryRun === true) return;
    requireComplete(facts);
    const name = drainTargetText(target);
    await confirm(`${name} is emptied as stowage drain-plan ${name} shows. Continue?`, flags.yes);
    const context: MoveContext = {
      cluster,
      clock: realClock,
      deadlineMs: realClock.monotonicMs() + timeoutMs,
      load,
      copier: target.kind === 'drive' ? await localCopier(cluster, target.name) : undefined,
      onChange: output.onChange,
      onProgress: (text) => progress.tell(text),
    };
    const move = target.kind === 'node' ? moveNode : moveDrive;
    output.end(target, await move(target.name, context).finally(() => progress.end()));
  });
}

const nothingLeft: MoveOutcome = { left: [], waiting: [], commands: [] };

/** Standard output and the exit status. For users each change is printed immediately, as a line; for programs everything is one document at the end. */
class MoveOutput {
  readonly #format: OutputFormat;
  readonly #terminal = terminalOf(process.stdout, process.env);
  readonly #changes: string[] = [];
  readonly #onLine: () => void;
  #isAfterPlan = false;

  constructor(format: OutputFormat, onLine: () => void) {
    this.#format = format;
    this.#onLine = onLine;
  }

  plan(plan: DrainPlanReport, isAll: boolean): void {
    if (isAll) process.exitCode = exitCodeOfDrain(plan);
    if (!isAll && !this.#isText) return;
    process.stdout.write(renderedDrainPlan(plan, this.#format, this.#terminal));
    this.#isAfterPlan = true;
  }

  readonly onChange = (text: string): void => {
    this.#changes.push(text);
    if (!this.#isText) return;
    this.#onLine();
    process.stdout.write(this.#blankLine());
    printLine(text);
  };

  end(target: DrainTarget, outcome: MoveOutcome, state?: MoveState): void {
    const report = moveReportOf(drainTargetText(target), this.#changes, outcome, state);
    process.stdout.write(`${this.#blankLine()}${renderedMove(report, this.#format, this.#terminal)}`);
    if (exitCodeOfMove(report) !== 0) process.exitCode = exitCodeOfMove(report);
  }

  get hasChanges(): boolean {
    return this.#changes.length > 0;
  }

  /** Between the plan and what is done, once. */
  #blankLine(): string {
    if (!this.#isAfterPlan) return '';
    this.#isAfterPlan = false;
    return '\n';
  }

  get #isText(): boolean {
    return this.#format === 'table' || this.#format === 'wide';
  }
}

/** Uncordons only the objects that this move cordoned: a cordon by a user does not have the annotation. */
async function giveUp(name: string, cluster: Cluster, onChange: (text: string) => void): Promise<void> {
  const [closed] = await openAfterMove(name, { cluster, onChange }, { isGivenUp: true });
  if (closed !== undefined)
    throw new CliError(
      `${closed}; complete it with stowage drives move on its node, and call the command again`,
      unfinishedStatus,
    );
}

/** A plan without them may stop pods for nothing, call a node empty that is not, or end at a PodDisruptionBudget after it has stopped the first pods. */
function requireComplete(facts: DrainFacts): void {
  const unread = unreadKinds(facts);
  if (unread.length > 0)
    throw new CliError(
      `could not read ${unread.join(', ')}: forbidden; ask for the right to list them in all namespaces`,
    );
}

async function loadFacts(cluster: KubernetesCluster): Promise<DrainFacts> {
  const { server, source, namespace } = cluster;
  const options = { server, source, onProgress: () => {}, needsPolicies: true };
  const view = await loadCluster(cluster, { namespace }, options);
  return { view, disks: await disksIn(cluster), clock: realClock, profile: undefined };
}

function timeoutOf(timeout: string | undefined): number {
  if (timeout === undefined) return timeoutDefaultMs;
  const nanoseconds = parseGoDuration(timeout);
  if (nanoseconds === undefined || nanoseconds <= 0n)
    throw usage(`--timeout: "${timeout}" must be a duration above 0, such as 90s or 10m`);
  return Number(nanoseconds / 1_000_000n);
}
