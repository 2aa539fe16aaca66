import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { budgetsOf, whatIfIndex } from '../plan/make-plan.ts';
import type { VolumeCopyLine } from '../plan/plan-report.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import type { Note } from '../view/note.ts';
import type { DrainFacts, DrainParts } from './drain-facts.ts';
import type { DrainStep, EvictedPodLine, LeftLine, NodeCommand } from './drain-report.ts';
import { type CopyJob, copyJobs, driveMoves } from './drive-moves.ts';
import { evictionWaves } from './eviction-waves.ts';
import { cordonedForDrive } from './move-cordon.ts';
import { moveMarkOf } from './move-mark.ts';
import { emptyStep, leftPod } from './step-parts.ts';

/** The work for a drive that is drained. */
export interface DriveWork {
  readonly source: Drive;
  /** The drives that get volumes. */
  readonly targets: readonly Drive[];
  readonly copies: readonly VolumeCopyLine[];
  readonly jobs: readonly CopyJob[];
  readonly notes: readonly Note[];
}

export function driveWork(name: string, { view, clock, profile }: DrainFacts): DriveWork {
  const { copies, plan } = driveMoves(view, name, { nowMs: clock.nowMs(), profile });
  const source = view.snapshot.get('Drive', name) ?? {};
  const targets = targetsOf(copies, name, view);
  return { source, targets, copies, jobs: copyJobs(source, targets, copies), notes: plan.notes };
}

/** The steps that empty a drive: its volumes are copied to other drives of the node, while no pod uses the drive. */
export function driveSteps(name: string, facts: DrainFacts, work = driveWork(name, facts)): DrainParts {
  const { view } = facts;
  const { source, targets, copies, jobs, notes } = work;
  const isNeeded = jobs.length > 0 || inlinePods(source).length > 0;
  const users = isNeeded ? usersOf(source, facts) : [];
  const pods = stoppedPods(users, view);
  const left = [
    ...copies.filter(({ to }) => to === undefined).map(stuckLine),
    ...heldPods(pods),
    ...keptPods(users),
  ];
  // A drive of which nothing can be moved stays as it is: a cordon would only keep new volumes away from it.
  const isStuck = !isNeeded && targets.length === 0 && left.length > 0;
  const steps = [
    ...(isStuck ? [] : [cordonStep(source, targets, view)]),
    ...(pods.length === 0 ? [] : [podStep(pods)]),
    ...(jobs.length === 0 ? [] : [copyStep(source, copies, jobs)]),
    ...uncordonSteps(source, targets, view),
  ];
  return { steps, left, stays: [], notes };
}

/** The drives that get volumes, or that an earlier call has cordoned for that. */
function targetsOf(
  copies: readonly VolumeCopyLine[],
  source: string,
  { snapshot }: ClusterView,
): readonly Drive[] {
  const chosen = new Set(copies.map(({ to }) => to));
  return [...snapshot.values('Drive')]
    .filter((drive) => chosen.has(`drive/${drive.metadata?.name}`) || moveMarkOf(drive)?.from === source)
    .toSorted((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
}

function nodeOf({ spec }: Drive): string {
  return spec?.nodeName ?? '';
}

// ── Steps ──

function cordonStep(
  source: Drive,
  targets: readonly Drive[],
  { snapshot }: ClusterView,
): Omit<DrainStep, 'number'> {
  const node = snapshot.get('Node', nodeOf(source));
  const isNeeded = targets.length > 0;
  const closed = [source, ...targets].every(({ spec }) => spec?.unschedulable === true);
  return {
    ...emptyStep,
    action: 'cordon',
    title: isNeeded
      ? 'Cordon the drives, and the node, so that the pods wait until the copy is done'
      : 'Cordon the drive: no new volumes',
    isDone: closed && (!isNeeded || node === undefined || node.spec?.unschedulable === true),
    objects: [
      ...[source, ...targets].map(({ metadata }) => `drive/${metadata?.name}`),
      ...(isNeeded ? [`node/${nodeOf(source)}`] : []),
    ],
  };
}

function podStep(pods: readonly EvictedPodLine[]): Omit<DrainStep, 'number'> {
  const title = 'Stop the pods that use volumes of the drive; all of them, because it is unmounted';
  return { ...emptyStep, action: 'evict-pods', title, isDone: false, pods };
}

function copyStep(
  source: Drive,
  copies: readonly VolumeCopyLine[],
  jobs: readonly CopyJob[],
): Omit<DrainStep, 'number'> {
  return {
    ...emptyStep,
    action: 'copy-volumes',
    title: 'Copy the volumes, compare each copy, move the entries, and only then remove the data',
    isDone: false,
    volumes: copies
      .filter(({ to }) => to !== undefined)
      .map(({ volume, claim, bytes, from, to }) => ({
        kind: 'volume',
        name: volume,
        claim: claim === '' ? undefined : claim,
        bytes,
        from,
        to,
      })),
    commands: copyCommands(source, jobs),
  };
}

/** One command for each target. */
export function copyCommands(source: Drive, jobs: readonly CopyJob[]): readonly NodeCommand[] {
  const all = source.spec?.volumes ?? [];
  return jobs.map(({ target, volumes }) => {
    const isAll = all.length > 0 && all.every(({ name }) => volumes.includes(name));
    const flags = isAll ? '' : volumes.map((volume) => ` --volume ${volume}`).join('');
    return {
      node: nodeOf(source),
      command: `stowage drives move ${source.metadata?.name} ${target}${flags}`,
    };
  });
}

/** Uncordons the objects that the move cordoned; the drive that was emptied stays cordoned. */
function uncordonSteps(
  source: Drive,
  targets: readonly Drive[],
  { snapshot }: ClusterView,
): readonly Omit<DrainStep, 'number'>[] {
  if (targets.length === 0) return [];
  const node = snapshot.get('Node', nodeOf(source));
  const isOurs = node !== undefined && cordonedForDrive(node) === source.metadata?.name;
  const isOpen = node !== undefined && node.spec?.unschedulable !== true;
  return [
    {
      ...emptyStep,
      action: 'uncordon',
      title:
        'Uncordon what this move has cordoned, when each copy is in the ledger of its drive; the pods start again',
      isDone: false,
      objects: [
        ...targets.map(({ metadata }) => `drive/${metadata?.name}`),
        ...(isOurs || isOpen ? [`node/${nodeOf(source)}`] : []),
      ],
    },
  ];
}

// ── Pods ──

function inlinePods({ spec }: Drive): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ podRef }) =>
    podRef ? [`${podRef.namespace}/${podRef.name}`] : [],
  );
}

/** The pods that use a volume of the drive, as far as they have a node. Those that use only its targets go on. */
function usersOf(drive: Drive, { view, clock, profile }: DrainFacts): readonly PodRecord[] {
  const { index } = whatIfIndex(view, { nowMs: clock.nowMs(), profile });
  const found = new Map<string, PodRecord>();
  for (const { claimRef } of drive.spec?.volumes ?? [])
    if (claimRef !== undefined)
      for (const pod of index.pods.usingClaim(`${claimRef.namespace}/${claimRef.name}`))
        found.set(pod.key, pod);
  for (const key of inlinePods(drive)) {
    const pod = index.pods.get(key);
    if (pod !== undefined) found.set(key, pod);
  }
  return [...found.values()].filter(({ nodeName, isFinished }) => nodeName !== '' && !isFinished);
}

function stoppedPods(users: readonly PodRecord[], view: ClusterView): readonly EvictedPodLine[] {
  const stopped = users.filter((pod) => !isKept(pod));
  const waves = evictionWaves(stopped, { budgets: budgetsOf(view), restartsElsewhere: false });
  return [...waves].map(([{ key, owner }, wave]) => ({ pod: key, owner, wave, to: undefined }));
}

// ── What is left ──

function stuckLine({ volume, claim, driver, bytes }: VolumeCopyLine): LeftLine {
  return {
    kind: 'volume',
    name: volume,
    claim: claim === '' ? undefined : claim,
    driver,
    bytes,
    fitsOn: undefined,
    why: 'it fits on no other drive of its node, and local volumes cannot leave their node',
    remedy: 'add a drive to the node, or free bytes on one',
  };
}

function heldPods(pods: readonly EvictedPodLine[]): readonly LeftLine[] {
  return pods
    .filter(({ wave }) => wave === undefined)
    .map(({ pod }) =>
      leftPod(
        pod,
        'a PodDisruptionBudget does not allow that it is stopped together with the others, and none of them can start before the copy is done',
        'change the budget for the time of the copy',
      ),
    );
}

/** Pods that an eviction would not stop, or would stop without end. */
function keptPods(pods: readonly PodRecord[]): readonly LeftLine[] {
  return pods
    .filter(isKept)
    .map(({ key, owner }) =>
      owner === ''
        ? leftPod(
            key,
            'no controller creates it again, so it is not stopped',
            'delete it, and create it again after the copy',
          )
        : leftPod(
            key,
            `${owner} starts it again at once, also on a cordoned node`,
            'delete its controller for the time of the copy',
          ),
    );
}

function isKept({ owner }: PodRecord): boolean {
  return owner === '' || owner.startsWith('DaemonSet/') || owner.startsWith('Node/');
}
