import { writeFile } from 'node:fs/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import { consoleKinds, resourceOfKind } from '../../console/state/console-objects.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { coreEvents, leases, podDisruptionBudgets, priorityClasses } from '../../kube/resources.ts';
import { realClock } from '../../runtime/clock.ts';
import { redactedObject } from '../bundle/redaction/redact-object.ts';
import { CliError } from '../cli-error.ts';
import { type LogFlags, logForReading } from '../log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { serverError } from '../server-error.ts';
import { announcements, connectToRead, readPolicies } from '../source/load-cluster.ts';

export interface SnapshotFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** In the metadata of the list. */
export const takenAtKey = 'stowage.dev/taken-at';

const pageSize = 500;

/**
 * `stowage snapshot FILE`: writes the state of a cluster as one list of objects, without secrets. `stowage console FILE` shows it, and every
 * command with `--from` reads it.
 */
export async function snapshot(path: string, flags: SnapshotFlags): Promise<void> {
  const log = logForReading(flags);
  const progress = progressOf(log);
  await using cluster = await connectToRead(flags, log);
  const { server, source } = cluster;
  try {
    const { objects, unread } = await stateOf(cluster, (text) => progress.tell(text));
    progress.end();
    await write(path, snapshotText(objects, realClock.nowMs()));
    process.stdout.write(`${objects.length.toLocaleString('en-US')} objects of ${server} are in ${path}\n`);
    if (unread.length > 0)
      process.stderr.write(`stowage: not included, because you may not list them: ${unread.join(', ')}\n`);
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
  const resources = [...consoleKinds.map(resourceOfKind), coreEvents as Resource<KubeObject>];
  for (const resource of resources) {
    onProgress(`reading ${resource.plural}: ${objects.length} objects so far`);
    const found = await listAll(cluster, resource);
    if (found === undefined) unread.push(resource.plural);
    else objects.push(...found);
  }
  const announced = ((await announcements(cluster)) ?? []).map((lease) => ({ ...namesOf(leases), ...lease }));
  const policies = (await readPolicies(cluster)).map((policy) => ({
    ...policy,
    ...namesOf(policy.kind === priorityClasses.kind ? priorityClasses : podDisruptionBudgets),
  }));
  const others = [...announced, ...policies];
  return { objects: [...objects, ...others], unread };
}

/** With kind and version, which lists leave out. Undefined if the caller may not list it; empty if the server does not have it. */
async function listAll(
  cluster: Cluster,
  resource: Resource<KubeObject>,
): Promise<readonly KubeObject[] | undefined> {
  const found: KubeObject[] = [];
  const named = namesOf(resource);
  let next: string | undefined;
  try {
    do {
      const page = await cluster
        .resource(resource)
        .list({ limit: pageSize, ...(next && { continue: next }) });
      for (const item of page.items) found.push({ ...named, ...item });
      next = page.metadata.continue;
    } while (next);
    return found;
  } catch (error) {
    if (isReason(error, 'NotFound')) return [];
    if (isReason(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** Objects in lists do not say what they are. */
function namesOf(resource: Resource): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

/** The time is at the beginning, where it is found without reading the whole file. */
function snapshotText(objects: readonly KubeObject[], nowMs: number): string {
  const head = { apiVersion: 'v1', kind: 'List', metadata: { [takenAtKey]: new Date(nowMs).toISOString() } };
  const items = objects.map((object) => JSON.stringify(redactedObject(object)));
  return `${JSON.stringify(head).slice(0, -1)},"items":[\n${items.join(',\n')}\n]}\n`;
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
