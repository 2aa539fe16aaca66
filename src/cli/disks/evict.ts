import type { Cluster } from '../../cluster/cluster.ts';
import { parseGoDuration } from '../../kube/go/duration.ts';
import { readDiskObjects } from '../../queries/disks/disk-objects.ts';
import type { EvictionLine, EvictionReport } from '../../queries/disks/disks-report.ts';
import { evictionLines } from '../../queries/disks/eviction-lines.ts';
import { knownDisks } from '../../queries/disks/known-disks.ts';
import { type Clock, realClock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { outputFormatOf } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { Sections } from '../output/sections.ts';
import { styleOf } from '../output/style.ts';
import { targetNamed, targetText } from './disk-targets.ts';
import { evictionColumns } from './render-descriptions.ts';
import type { RenderDisksOptions } from './render-disks.ts';
import { type NodeOrDisk, setScheduling } from './scheduling-change.ts';
import { type DisksFlags, disksOutput, withDisks } from './with-disks.ts';

export interface EvictFlags extends DisksFlags {
  readonly output: string;
  readonly undo?: boolean;
  readonly wait?: boolean;
  readonly timeout?: string;
}

/** Something stays on the disks. */
const remainsStatus = 3;
const timeoutDefaultMs = 10 * 60_000;
const intervalMs = 1_000;
/** If something is refused and nothing moves for this long, no other disk will take it. */
const refusedMs = 10_000;

/** `stowage disks evict`. */
export async function evict(argument: string, flags: EvictFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const timeoutMs = timeoutOf(flags);
  const report = await withDisks(flags, async (cluster) => {
    const target = targetNamed(argument, await readDiskObjects(cluster), ['node', 'disk']) as NodeOrDisk;
    const isRequested = flags.undo !== true;
    await setScheduling(cluster, target, { allowScheduling: !isRequested, evictionRequested: isRequested });
    if (!isRequested) requireUndone(target);
    const remaining = isRequested ? await remainingOf(cluster, target, flags, timeoutMs) : [];
    return evictionReport(target, isRequested, remaining);
  });
  const names = () => report.remaining.map(({ kind, name }) => `${kind}/${printableText(name)}`);
  process.stdout.write(disksOutput(report, format, { render: renderEviction, names }));
  const failure = evictionFailure(report, flags.wait === true);
  if (failure !== undefined) throw new CliError(failure, remainsStatus);
}

/** A disk of a node that is evicted still is. */
function requireUndone(target: NodeOrDisk): void {
  if (target.kind === 'node' || target.disk.node?.spec?.evictionRequested !== true) return;
  const { nodeName } = target.disk;
  throw new CliError(
    `${targetText(target)}: eviction cancelled, but StorageNode ${nodeName} has evictionRequested: true; cancel that too with stowage disks evict node/${nodeName} --undo`,
  );
}

function timeoutOf({ wait, timeout, undo }: EvictFlags): number {
  if (undo === true && wait === true) throw usage('--wait: there is nothing to wait for with --undo');
  if (timeout === undefined) return timeoutDefaultMs;
  if (wait !== true) throw usage('--timeout: only has a meaning with --wait');
  const nanoseconds = parseGoDuration(timeout);
  if (nanoseconds === undefined || nanoseconds <= 0n)
    throw usage(`--timeout: "${timeout}" must be a duration above 0, such as 90s or 10m`);
  return Number(nanoseconds / 1_000_000n);
}

function evictionReport(
  target: NodeOrDisk,
  evictionRequested: boolean,
  remaining: readonly EvictionLine[],
): EvictionReport {
  return {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'EvictionReport',
    target: targetText(target),
    evictionRequested,
    remaining,
  };
}

async function remainingOf(
  cluster: Cluster,
  target: NodeOrDisk,
  flags: EvictFlags,
  timeoutMs: number,
): Promise<readonly EvictionLine[]> {
  if (flags.wait !== true) return await lookAt(cluster, target);
  const progress = progressOf(logForReading(flags));
  try {
    return await waitUntilEmpty(cluster, target, {
      clock: realClock,
      timeoutMs,
      onProgress: (remaining) => progress.tell(progressText(remaining)),
    });
  } finally {
    progress.end();
  }
}

export interface EvictionWait {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onProgress: (remaining: readonly EvictionLine[]) => void;
}

/** Looks again and again until nothing is left, until the rest can't move, or until the time is over. Returns what is left. */
export async function waitUntilEmpty(
  cluster: Cluster,
  target: NodeOrDisk,
  { clock, timeoutMs, onProgress }: EvictionWait,
): Promise<readonly EvictionLine[]> {
  const { signal } = new AbortController();
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  let refusedSinceMs: number | undefined;
  for (;;) {
    const remaining = await lookAt(cluster, target);
    const nowMs = clock.monotonicMs();
    const isRefused = remaining.every(({ state }) => state === 'Blocked' || state === 'Waiting');
    const hasBlocked = remaining.some(({ state }) => state === 'Blocked');
    refusedSinceMs = isRefused && hasBlocked ? (refusedSinceMs ?? nowMs) : undefined;
    const isStuck = refusedSinceMs !== undefined && nowMs - refusedSinceMs >= refusedMs;
    if (remaining.length === 0 || isStuck || nowMs >= deadlineMs) return remaining;
    onProgress(remaining);
    await clock.sleep(intervalMs, signal);
  }
}

/** The replicas and copies that are left on the disks now. */
async function lookAt(cluster: Cluster, target: NodeOrDisk): Promise<readonly EvictionLine[]> {
  const objects = await readDiskObjects(cluster, { withClaims: false });
  const all = knownDisks(objects);
  const own = all.filter(({ nodeName, name, uuid }) =>
    target.kind === 'node'
      ? nodeName === target.node.metadata?.name
      : nodeName === target.disk.nodeName && name === target.disk.name && uuid === target.disk.uuid,
  );
  return evictionLines(own, objects, all);
}

/** The error that ends the command; undefined if nothing is wrong. */
export function evictionFailure(
  { target, remaining }: EvictionReport,
  hasWaited: boolean,
): string | undefined {
  const blocked = remaining.filter(({ state }) => state === 'Blocked');
  const [first] = blocked;
  if (first !== undefined) {
    const more = blocked.length > 1 ? ` (and ${blocked.length - 1} more)` : '';
    return `${target}: ${first.kind} ${first.name} can't move: ${first.message}${more}; add a disk or free bytes, or take it back with --undo`;
  }
  if (!hasWaited || remaining.length === 0) return undefined;
  return `${target}: ${remaining.length} of its replicas and copies had not left within --timeout; they still move, call the command again to wait`;
}

function progressText(remaining: readonly EvictionLine[]): string {
  const blocked = remaining.filter(({ state }) => state === 'Blocked').length;
  const rest = blocked === 0 ? '' : `, ${blocked} can't move`;
  const next = remaining.find(({ state }) => state === 'Moving') ?? remaining[0];
  return `${remaining.length} left${rest}: ${next?.name} ${next?.message}`;
}

function renderEviction(report: EvictionReport, options: RenderDisksOptions): string {
  const { target, evictionRequested, remaining } = report;
  const sections = new Sections(options);
  if (!evictionRequested) sections.line(`${target} is not evicted, and takes new replicas and copies`);
  else if (remaining.length === 0) sections.line(`${target} is empty, and takes nothing new`);
  else sections.line(`${target} is evicted: ${remaining.length} of its replicas and copies have not left`);
  sections.table('NOT MOVED YET', remaining, [...evictionColumns(styleOf(options.terminal))]);
  return sections.toString();
}
