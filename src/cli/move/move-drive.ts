import type { Cluster } from '../../cluster/cluster.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import type { DrainParts } from '../../queries/drain/drain-facts.ts';
import type { CopyJob } from '../../queries/drain/drive-moves.ts';
import { copyCommands, driveSteps, driveWork } from '../../queries/drain/drive-steps.ts';
import { makeDrainPlan } from '../../queries/drain/make-drain-plan.ts';
import { cordonedForDrive, moveCordonKey } from '../../queries/drain/move-cordon.ts';
import { moveMarkOf, moveMarkText, moveTargetKey } from '../../queries/drain/move-mark.ts';
import { editDrive } from '../drives/edit-drive.ts';
import { driveNamed } from '../drives/named-drives.ts';
import { CliError } from '../errors/cli-error.ts';
import { cordonForDrive, uncordonForDrive } from './edit-node.ts';
import { evictPods } from './evict-pods.ts';
import type { MoveContext, MoveOutcome } from './move-context.ts';

/**
 * Empties a drive: cordons it, its targets and its node, stops the pods that use the drive, copies the volumes, and uncordons these objects when the ledgers show
 * that every volume has arrived. Every step reads the stored state, so a later call continues where this one ended. Data is removed by the copy
 * alone, which compares first.
 */
export async function moveDrive(name: string, context: MoveContext): Promise<MoveOutcome> {
  const { cluster, load, onChange } = context;
  const target = { kind: 'drive', name } as const;
  const before = makeDrainPlan(target, await load());
  const isCopyNeeded = before.steps.some(({ action }) => action === 'copy-volumes');
  // Nothing is stopped unless everything can be stopped.
  if (isCopyNeeded && before.left.some(({ kind }) => kind === 'pod'))
    return { left: before.left, waiting: [], commands: [] };
  // Nothing can be moved: the drive keeps taking volumes.
  if (isStuck(before)) return { left: before.left, waiting: [], commands: [] };
  const { drive: source, isChanged } = await closeDrive(name, context);
  // From now on the drive gets no more volumes, so the work is complete.
  const facts = await load();
  const work = driveWork(name, facts);
  const { jobs } = work;
  const { left, steps } = driveSteps(name, facts, work);
  if (isStuck({ left, steps })) {
    // The targets were taken between the plan and the cordon. If this call ends here, --undo finds the mark.
    if (isChanged && (await openSource(cluster, name))) onChange(`drive/${name} uncordoned`);
    return { left, waiting: [], commands: [] };
  }
  for (const job of jobs) await closeTarget(job, context);
  const node = source.spec?.nodeName ?? '';
  if (jobs.length > 0 && (await cordonForDrive(cluster, node, name))) onChange(`node/${node} cordoned`);
  const next = async () => makeDrainPlan(target, await load()).steps.flatMap(({ pods }) => pods);
  const waiting = await evictPods(context, { next, keepsSetsReady: false });
  if (waiting.length > 0) return { left, waiting, commands: [] };
  if (jobs.length > 0 && context.copier === undefined)
    return { left, waiting: [], commands: copyCommands(source, jobs) };
  for (const job of jobs) await copyAndCheck(job, context);
  return { left, waiting: await openAfterMove(name, context, { isGivenUp: false }), commands: [] };
}

/** The plan has no step, because nothing of what is left can be moved. */
function isStuck({
  steps,
  left,
}: Pick<DrainParts, 'left'> & { readonly steps: readonly unknown[] }): boolean {
  return steps.length === 0 && left.length > 0;
}

// ── Close ──

/** The cordon and its mark are one write: a cordon without a mark is that of a person, and stays. */
async function closeDrive(
  name: string,
  { cluster, onChange }: MoveContext,
): Promise<{ readonly drive: Drive; readonly isChanged: boolean }> {
  const closed = await editDrive(cluster, name, ({ spec }) =>
    spec?.unschedulable === true
      ? undefined
      : { metadata: { annotations: { [moveCordonKey]: name } }, spec: { unschedulable: true } },
  );
  if (closed.isChanged) onChange(`drive/${name} cordoned`);
  return closed;
}

/** The cordon and the mark are one write: a cordon without a mark is that of a person. */
async function closeTarget(
  { source, target, volumes }: CopyJob,
  { cluster, onChange }: MoveContext,
): Promise<void> {
  const { isChanged } = await editDrive(cluster, target, (drive) => {
    const mark = moveMarkOf(drive);
    if (mark !== undefined && mark.from !== source)
      throw new CliError(
        `drive ${target} gets the volumes of drive ${mark.from}; complete that first with stowage move drive/${mark.from}`,
      );
    const isCordoned = drive.spec?.unschedulable === true;
    if (mark === undefined && isCordoned)
      throw new CliError(`drive ${target} was cordoned meanwhile; call the command again`);
    const wanted = [...new Set([...(mark?.volumes ?? []), ...volumes])];
    if (isCordoned && wanted.length === mark?.volumes.length) return undefined;
    const annotations = { [moveTargetKey]: moveMarkText({ from: source, volumes: wanted }) };
    return { metadata: { annotations }, spec: { unschedulable: true } };
  });
  if (isChanged) onChange(`drive/${target} cordoned for ${volumesText(volumes)} of drive/${source}`);
}

// ── Copy ──

async function copyAndCheck(job: CopyJob, context: MoveContext): Promise<void> {
  const { cluster, copier, onChange, onProgress } = context;
  await copier?.copy(job, onProgress);
  const [source, target] = [await driveNamed(cluster, job.source), await driveNamed(cluster, job.target)];
  const there = namesIn(target);
  const behind = job.volumes.filter((volume) => namesIn(source).has(volume) || !there.has(volume));
  if (behind.length > 0)
    throw new CliError(
      `volume ${behind[0]} has not arrived on drive ${job.target}; everything stays cordoned, call the command again`,
    );
  onChange(`${volumesText(job.volumes)} moved from drive/${job.source} to drive/${job.target}`);
}

function volumesText({ length }: readonly string[]): string {
  return `${length} ${length === 1 ? 'volume' : 'volumes'}`;
}

function namesIn({ spec }: Drive): ReadonlySet<string> {
  return new Set((spec?.volumes ?? []).map(({ name }) => name));
}

// ── Open ──

/**
 * Uncordons what the move of this drive has cordoned: the targets, then the node, then, if the move is cancelled, the drive itself. Each cordon has its
 * own mark, so that an interrupted call can be repeated. Returns what keeps a drive closed. A move that is cancelled may leave volumes behind; each is
 * complete where it has its entry.
 */
export async function openAfterMove(
  name: string,
  { cluster, onChange }: Pick<MoveContext, 'cluster' | 'onChange'>,
  { isGivenUp }: { readonly isGivenUp: boolean },
): Promise<readonly string[]> {
  const source = await driveNamed(cluster, name);
  const targets = await targetsOf(cluster, name);
  const closed: string[] = [];
  for (const target of targets) {
    const own = target.metadata?.name ?? '';
    const behind = moveMarkOf(target)?.volumes.find((volume) => namesIn(source).has(volume));
    const busy = [target, source].find(({ status }) => status?.state === 'Repairing');
    if (busy !== undefined)
      closed.push(
        `drive ${busy.metadata?.name} is in the state Repairing: a copy has been interrupted, or still runs`,
      );
    else if (behind !== undefined && !isGivenUp) closed.push(`volume ${behind} is still on drive ${name}`);
    else if (await openTarget(cluster, own, name)) onChange(`drive/${own} uncordoned`);
  }
  if (closed.length > 0) return closed;
  const node = source.spec?.nodeName ?? '';
  if (await uncordonForDrive(cluster, node, name)) onChange(`node/${node} uncordoned`);
  if (isGivenUp && (await openSource(cluster, name))) onChange(`drive/${name} uncordoned`);
  return [];
}

/** Removes the cordon of the emptied drive itself, unless a person has made it. */
async function openSource(cluster: Cluster, name: string): Promise<boolean> {
  const { isChanged } = await editDrive(cluster, name, (drive) =>
    cordonedForDrive(drive) === name
      ? { metadata: { annotations: { [moveCordonKey]: null } }, spec: { unschedulable: false } }
      : undefined,
  );
  return isChanged;
}

async function targetsOf(cluster: Cluster, source: string): Promise<readonly Drive[]> {
  const { items } = await cluster.resource(drives).list();
  return items.filter((drive) => moveMarkOf(drive)?.from === source);
}

async function openTarget(cluster: Cluster, target: string, source: string): Promise<boolean> {
  const { isChanged } = await editDrive(cluster, target, (drive) =>
    moveMarkOf(drive)?.from === source
      ? { metadata: { annotations: { [moveTargetKey]: null } }, spec: { unschedulable: false } }
      : undefined,
  );
  return isChanged;
}
