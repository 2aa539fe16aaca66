import type { Cluster } from '../../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../../cluster/kubernetes/client.ts';
import { parseGoDuration } from '../../../kube/go/duration.ts';
import { realClock } from '../../../runtime/clock.ts';
import { CliError, usage } from '../../cli-error.ts';
import { confirm } from '../../drives/confirm.ts';
import { type DrivesFlags, withOwnKinds } from '../../drives/with-drives.ts';
import { Page } from '../../explain/render-parts.ts';
import { logForReading } from '../../log-flags.ts';
import { progressOf } from '../../output/progress-of.ts';
import { type Terminal, terminalOf } from '../../output/terminal.ts';
import { loadCluster } from '../../source/load-cluster.ts';
import { disksIn } from '../drain-disks.ts';
import { type DrainFacts, unreadKinds } from '../drain-facts.ts';
import { renderedDrainPlan } from '../drain-plan-command.ts';
import { type DrainTarget, drainTargetOf, drainTargetText } from '../drain-target.ts';
import { exitCodeOfDrain, makeDrainPlan } from '../make-drain-plan.ts';
import { renderCommands, renderLeft } from '../render-drain.ts';
import { localCopier } from './local-copier.ts';
import type { MoveContext, MoveOutcome } from './move-context.ts';
import { moveDrive, openAfterMove } from './move-drive.ts';
import { moveNode } from './move-node.ts';

export interface MoveCommandFlags extends DrivesFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly timeout?: string;
}

const timeoutDefaultMs = 10 * 60_000;
/** Something is left, or something has to be waited for or run elsewhere. */
const unfinishedStatus = 3;

/** `stowage move`: empties a node or a drive step by step. */
export async function moveCommand(argument: string, flags: MoveCommandFlags): Promise<void> {
  const target = drainTargetOf(argument);
  const timeoutMs = timeoutOf(flags.timeout);
  if (flags.undo === true && target.kind === 'node')
    throw usage(
      `--undo: is for drives; run kubectl uncordon ${target.name}, stowage disks evict node/${target.name} --undo, and stowage drives uncordon`,
    );
  const progress = progressOf(logForReading(flags));
  const terminal = terminalOf(process.stdout, process.env);
  await withOwnKinds(flags, 'the kind Drive', async (cluster) => {
    const load = () => loadFacts(cluster);
    const onChange = (text: string) => {
      progress.end();
      process.stdout.write(`${text}\n`);
    };
    if (flags.undo === true) {
      await giveUp(target.name, cluster, onChange);
      return;
    }
    const facts = await load();
    const plan = makeDrainPlan(target, facts);
    process.stdout.write(renderedDrainPlan(plan, 'table', terminal));
    if (flags.dryRun === true) {
      process.exitCode = exitCodeOfDrain(plan);
      return;
    }
    requireComplete(facts);
    await confirm(`${drainTargetText(target)} is emptied as shown. Continue?`, flags.yes);
    const context: MoveContext = {
      cluster,
      clock: realClock,
      deadlineMs: realClock.monotonicMs() + timeoutMs,
      load,
      copier: target.kind === 'drive' ? await localCopier(cluster, target.name) : undefined,
      onChange,
      onProgress: (text) => progress.tell(text),
    };
    const move = target.kind === 'node' ? moveNode : moveDrive;
    finish(target, await move(target.name, context).finally(() => progress.end()), terminal);
  });
}

/** The drive itself stays cordoned: a person may have done that before. */
async function giveUp(name: string, cluster: Cluster, onChange: (text: string) => void): Promise<void> {
  const [closed] = await openAfterMove(name, { cluster, onChange }, { isGivenUp: true });
  if (closed !== undefined)
    throw new CliError(
      `${closed}; complete it with stowage drives move on its node, and call the command again`,
      unfinishedStatus,
    );
  onChange(
    `the move of drive/${name} is given up; stowage drives uncordon ${name} lets it take volumes again`,
  );
}

/** A plan without them may stop pods for nothing, or call a node empty that is not. */
function requireComplete(facts: DrainFacts): void {
  const unread = unreadKinds(facts);
  if (unread.length > 0)
    throw new CliError(`could not read ${unread.join(', ')}: forbidden; ask for the right to list them`);
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

function finish(target: DrainTarget, outcome: MoveOutcome, terminal: Terminal): void {
  process.stdout.write(renderOutcome(target, outcome, terminal));
  if (exitCodeOfMove(outcome) !== 0) process.exitCode = exitCodeOfMove(outcome);
}

export function exitCodeOfMove({ left, waiting, commands }: MoveOutcome): number {
  return left.length + waiting.length + commands.length > 0 ? unfinishedStatus : 0;
}

/** How it ended: what is left, what has to be waited for, and what has to be run on a node. */
export function renderOutcome(target: DrainTarget, outcome: MoveOutcome, terminal: Terminal): string {
  const { left, waiting, commands } = outcome;
  const options = { terminal, isWide: true };
  const page = new Page(options);
  const name = drainTargetText(target);
  const again = `stowage move ${name}`;
  if (commands.length > 0) {
    page.line(`${name} is ready to be copied; run this, then ${again} again:`);
    renderCommands(page, commands);
  } else if (waiting.length > 0) {
    page.line(`${name} is not empty yet; ${again} goes on:`);
    for (const text of waiting) page.line(text, 2);
  } else if (left.length === 0) page.line(`${name} is done`);
  else page.line(`${name}: Stowage has done what it can`);
  renderLeft(page, left, options);
  return page.toString();
}
