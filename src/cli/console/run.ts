import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { ConsoleSource } from '../../console/console.ts';
import type { ConsoleKind } from '../../console/state/console-objects.ts';
import { readRecordItem, takenAtKey } from '../../console/state/snapshot-file.ts';
import type { ConsoleRecord } from '../../console/wire/answers.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { systemRandom } from '../../runtime/random.ts';
import { everyKind } from '../../state/kind-resources.ts';
import { type LogFlags, logOf } from '../flags/log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { type ConsoleServerFlags, consoleServerPlan, serveConsole } from '../serving/serve-console.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { loadFiles } from '../source/load-files.ts';

export interface FrozenConsoleFlags extends ConsoleServerFlags, LogFlags {}

/** `stowage console FILE`: shows a state that was written to a file, until the process is stopped. */
export async function frozenConsole(paths: readonly string[], flags: FrozenConsoleFlags): Promise<void> {
  const log = logOf(flags);
  const plan = await consoleServerPlan({ consoleAddress: '127.0.0.1:0', ...flags });
  const progress = progressOf(log);
  let record: ConsoleRecord | undefined;
  const files = loadFiles(paths, {
    onProgress: (text) => progress.tell(text),
    onOther: (object) => {
      record = readRecordItem(object) ?? record;
    },
  });
  progress.end();
  const [{ Console }, { consoleAnswers }] = await Promise.all([
    import('../../console/console.ts'),
    import('../../console/answers/console-answers.ts'),
  ]);
  const ownToken = randomBytes(32).toString('base64url');
  const { leases, policies, isComplete } = files;
  const facts = { leases, isEmbedded: false, isFromFiles: true, isComplete };
  const console = Console.start({
    source: { ...sourceOf(files, takenAtMs(paths)), record },
    answers: consoleAnswers({
      facts: () => Promise.resolve(facts),
      policies,
    }),
    viewers: { ownToken },
    hosts: plan.hosts,
    server: paths.join(', '),
    version: packageVersion(),
    canWrite: false,
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    onError: (error, where) => log.warn(`console: ${where}`, { error }),
  });
  await console.ready;
  const served = await serveConsole(plan, console, log);
  log.info(`the console is on ${served.url}?token=${ownToken}`);
  log.info(`${await stopRequested()}: stopping`);
  await console.close();
  await served.close();
}

function sourceOf(
  { snapshot, events, disks }: Omit<ClusterView, 'notes'>,
  takenAt: number,
): Extract<ConsoleSource, { kind: 'frozen' }> {
  const objects: (readonly [ConsoleKind, KubeObject])[] = everyKind.flatMap((kind) =>
    [...snapshot.values(kind)].map((object): readonly [ConsoleKind, KubeObject] => [kind, object]),
  );
  const add = (kind: ConsoleKind, found: readonly KubeObject[] = []) =>
    objects.push(...found.map((object): readonly [ConsoleKind, KubeObject] => [kind, object]));
  add('DiskSchedule', disks?.schedules);
  add('StorageNode', disks?.nodes);
  add('DiskSettings', disks?.settings);
  add('DiskVolume', disks?.volumes);
  add('Replica', disks?.replicas);
  return { kind: 'frozen', objects, events, takenAtMs: takenAt };
}

/** A snapshot says at its beginning when it was taken; of other files, the time of the last change is known. Standard input was taken now. */
function takenAtMs([path = '']: readonly string[]): number {
  if (path === '-') return realClock.nowMs();
  const stat = statSync(path);
  const { mtimeMs } = stat;
  if (stat.isDirectory()) return mtimeMs;
  const head = Buffer.alloc(1_024);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  const [, text] = new RegExp(`"${takenAtKey}": *"([^"]+)"`).exec(head.toString('utf8')) ?? [];
  return parseTimestamp(text) ?? mtimeMs;
}
