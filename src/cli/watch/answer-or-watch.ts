import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { QuestionError } from '../../queries/question-error.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { usage } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { type Terminal, terminalOf } from '../output/terminal.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { connectToRead, loadCluster } from '../source/load-cluster.ts';
import {
  type LoadedView,
  type LoadTarget,
  loadFromSource,
  type SourceFlags,
} from '../source/load-cluster-view.ts';
import { loadFiles } from '../source/load-files.ts';
import { overlayFiles } from '../source/overlay-files.ts';
import { Screen } from './screen.ts';
import { WatchLoop } from './watch-loop.ts';
import { WatchedCluster } from './watched-cluster.ts';

export interface WatchFlags {
  readonly watch?: boolean;
}

/** The answer of a command. */
export interface AnsweredText {
  readonly text: string;
  readonly exitCode: number;
}

export type AnswerFunction = (
  loaded: LoadedView,
  terminal: Terminal,
  onProgress: (text: string) => void,
) => AnsweredText;

/**
 * Loads the cluster, prints the answer, and sets the exit status. With `--watch` the answer is given again after each change, until the process is asked to
 * stop; the exit status is then 0.
 */
export async function answerOrWatch(
  flags: SourceFlags & WatchFlags,
  target: LoadTarget,
  answer: AnswerFunction,
): Promise<void> {
  if (flags.watch === true) {
    await watch(flags, target, answer);
    return;
  }
  const log = logForReading(flags);
  const progress = progressOf(log);
  try {
    const loaded = await loadFromSource(flags, target, { log, progress });
    const { text, exitCode } = answer(loaded, stdoutTerminal(), (line) => progress.tell(line));
    progress.end();
    process.stdout.write(text);
    process.exitCode = exitCode;
  } finally {
    progress.end();
  }
}

function stdoutTerminal(): Terminal {
  return terminalOf(process.stdout, process.env);
}

async function watch(flags: SourceFlags, target: LoadTarget, answer: AnswerFunction): Promise<void> {
  const { from, kubeconfig, context } = flags;
  if (from !== undefined && kubeconfig === undefined && context === undefined)
    throw usage(
      '--watch: files do not change; leave out --from, or add --kubeconfig to change a live cluster',
    );
  const stop = new AbortController();
  void stopRequested().then(() => stop.abort());
  await using cluster = await connectToRead({ kubeconfig, context }, logForReading(flags));
  const namespace = target.namespace ?? cluster.namespace;
  const about = target.name === undefined ? { namespace } : { namespace, name: target.name };
  const asked = {
    server: cluster.server,
    source: cluster.source,
    onProgress: () => {},
    serverVersion: () => cluster.serverVersion(),
  };
  // The first answer fails as it does without --watch, for example if the server is not there.
  const first = await loadCluster(cluster, about, asked);
  const screen = new Screen(() => ({
    terminal: stdoutTerminal(),
    height: process.stdout.rows,
    write: (text) => void process.stdout.write(text),
  }));
  const loop = new WatchLoop({
    clock: realClock,
    answer: async () => {
      const text = await textOf(async () => {
        const live = await loadCluster(cluster, about, { ...asked, list: async () => watched.list() });
        const files = from && loadFiles(from, asked);
        const view = files === undefined ? live : overlayFiles(live, files, from!);
        const loaded = { view, namespace, where: cluster.server, isFromFiles: false };
        return answer(loaded, stdoutTerminal(), () => {}).text;
      });
      screen.show(text, statusOf(cluster));
    },
  });
  await using watched = new WatchedCluster({
    cluster,
    clock: realClock,
    random: systemRandom,
    unlisted: first.unseen ?? [],
    onChange: () => loop.changed(),
  });
  process.stdout.on('resize', () => loop.changed());
  await watched.synced(stop.signal);
  try {
    await loop.run(stop.signal);
  } finally {
    screen.close();
  }
}

/** Shows an error that a user can fix, such as a name that does not exist any more, and continues to watch. */
async function textOf(answer: () => Promise<string>): Promise<string> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof QuestionError)) throw error;
    return `stowage: ${error.message}\n`;
  }
}

function statusOf({ server }: KubernetesCluster): string {
  const time = new Date(realClock.nowMs()).toISOString().slice(0, 19);
  return `${server}   ${time}Z   (Ctrl-C ends)`;
}
