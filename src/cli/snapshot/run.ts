import { writeFile } from 'node:fs/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { listAll, otherObjects } from '../../console/answers/snapshot-objects.ts';
import { consoleKinds, resourceOfKind } from '../../console/state/console-objects.ts';
import { readConsoleRecord, snapshotHead, snapshotTail } from '../../console/state/snapshot-file.ts';
import type { ConsoleRecord } from '../../console/wire/answers.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import { emulatedVersion } from '../../kube/emulated-version.ts';
import { redactedObject } from '../../kube/redaction/redact-object.ts';
import { realClock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { CliError } from '../errors/cli-error.ts';
import { serverError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { printLine } from '../output/print-line.ts';
import { progressOf } from '../output/progress-of.ts';
import { connect } from '../source/connect.ts';

export interface SnapshotFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The time limit for an answer. */
const requestTimeoutMs = 30_000;

/**
 * `stowage snapshot FILE`: writes the state of a cluster as one list of objects, without secrets. `stowage console FILE` shows it, and every
 * command with `--from` reads it.
 */
export async function snapshot(path: string, flags: SnapshotFlags): Promise<void> {
  const log = logForReading(flags);
  const progress = progressOf(log);
  await using cluster = await connect(flags, { rateLimit: false, requestTimeoutMs, log });
  const { server, source } = cluster;
  try {
    const { objects, unread } = await stateOf(cluster, (text) => progress.tell(text));
    if (objects.length === 0 && unread.length > 0)
      throw new CliError(
        `the user of ${source} may list nothing of what a snapshot has; ask for the right to list, or choose another user with --kubeconfig or --context`,
      );
    const record = { ...(await recordOf(cluster)), isComplete: unread.length === 0 };
    progress.end();
    const items = objects.map((object) => `${JSON.stringify(redactedObject(object))},\n`);
    await write(path, [snapshotHead(realClock.nowMs()), ...items, snapshotTail(record)].join(''));
    printLine(`${objects.length.toLocaleString('en-US')} objects of ${server} are in ${path}`);
    if (unread.length > 0)
      process.stderr.write(`stowage: not included, because you may not list them: ${unread.join(', ')}\n`);
    if (record.history.note !== undefined)
      process.stderr.write(`stowage: ${printableText(record.history.note)}\n`);
  } catch (error) {
    progress.end();
    throw error instanceof CliError ? error : serverError(error, { server, source });
  }
}

interface ReadState {
  readonly objects: readonly KubeObject[];
  readonly unread: readonly string[];
}

async function stateOf(cluster: Cluster, onProgress: (text: string) => void): Promise<ReadState> {
  const objects: KubeObject[] = [];
  const unread: string[] = [];
  for (const resource of consoleKinds.map(resourceOfKind)) {
    onProgress(`reading ${resource.plural}: ${objects.length} objects so far`);
    const found = await listAll(cluster, resource);
    if (found === undefined) unread.push(resource.plural);
    else for (const object of found) objects.push(object);
  }
  const others = await otherObjects(cluster);
  return { objects: [...objects, ...others.objects], unread: [...unread, ...others.unread] };
}

/** How the user gets a snapshot that has what this command could not read. */
const fromThePage = 'To include them, choose "Save a snapshot" on the overview of the console.';

/** The console of `stowage up` has the address and the users of its API server. That of `stowage run` has an address of its own, which this command does not know. */
async function recordOf(cluster: KubernetesCluster): Promise<ConsoleRecord> {
  if ((await cluster.serverVersion()) !== emulatedVersion)
    return without(`Only a running console records them, and this command cannot find it. ${fromThePage}`);
  try {
    const { text } = await cluster.page('/console/data/record');
    const record = readConsoleRecord(JSON.parse(text));
    return (
      record ?? without(`The console of this cluster has another version than this program. ${fromThePage}`)
    );
  } catch (error) {
    if (error instanceof ApiError && error.code === 404)
      return without('Only a running console records them, and this cluster runs with --no-console.');
    if (error instanceof ApiError || error instanceof SyntaxError)
      return without(`The console of this cluster records them, but did not answer: ${error.message}`);
    throw error;
  }
}

function without(why: string): ConsoleRecord {
  const note = `The snapshot has neither capacity over time nor the exact times of each pod's steps. ${why}`;
  return { isComplete: false, history: { timesMs: [], series: [], note }, steps: {} };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new CliError(`${path}: cannot be written: ${fileSystemReason(error)}; choose another file`, 1, {
      cause: error,
    });
  }
}
