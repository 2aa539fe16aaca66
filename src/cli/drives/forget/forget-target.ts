import type { Cluster } from '../../../cluster/cluster.ts';
import { nodes } from '../../../kube/resources.ts';
import { type Drive, drives } from '../../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../errors/cli-error.ts';
import { drivePrefix } from '../named-drives.ts';

/** A node with all of its drives, or one drive of a node, that will not come back. */
export interface ForgetTarget {
  readonly node: string;
  /** Undefined: all drives of the node. */
  readonly drive?: string | undefined;
}

export interface LostTarget {
  readonly target: ForgetTarget;
  /** Why a drive of the target is not lost, by its current version. */
  readonly problemOf: (drive: Drive) => string | undefined;
}

/** How the target is written on the command line. */
export function forgetTargetText({ node, drive }: ForgetTarget): string {
  return drive ?? node;
}

/** `NAME` is a drive or a node; `drive/NAME` and `node/NAME` say which. Rejects if the data of the target is not lost. */
export async function lostTarget(cluster: Cluster, argument: string): Promise<LostTarget> {
  const { kind, name } = parsedTarget(argument);
  const drive =
    kind === 'node' ? undefined : await undefinedIfNotFound(cluster.resource(drives).get({ name }));
  if (drive === undefined && kind === 'drive')
    throw new CliError(`there is no drive ${name}; stowage drives list lists those there are`);
  if (drive === undefined) {
    await requireNodeGone(cluster, name);
    return { target: { node: name }, problemOf: () => undefined };
  }
  if (kind === undefined && (await hasDrives(cluster, name)))
    throw new CliError(`${name} is a drive and a node with drives; write drive/${name} or node/${name}`);
  const node = drive.spec?.nodeName ?? '';
  const problemOf = (await hasNode(cluster, node)) ? notLost : () => undefined;
  const problem = problemOf(drive);
  if (problem !== undefined) throw new CliError(problem);
  return { target: { node, drive: name }, problemOf };
}

/** Why the data of a drive in an existing node is not lost; undefined if it is. The node service reports that no device has the filesystem, or that it cannot be read. */
function notLost({ metadata, status }: Drive): string | undefined {
  const name = metadata?.name ?? '';
  const { reason } = status?.conditions?.find(({ type }) => type === 'Mounted') ?? {};
  if (reason === 'DuplicateFilesystem')
    return `drive ${name}: an older Drive has the same filesystem, so its data is not lost; delete the claims of its volumes, then run stowage drives remove ${name}`;
  // The state Removing stays also if the device is lost meanwhile.
  const isLost = status?.state === 'Lost' || status?.state === 'Error' || lostReasons.has(reason ?? '');
  if (isLost) return undefined;
  return `drive ${name} is ${status?.state ?? 'not reported by its node'}, so its data is not lost; only a drive that is Lost or in Error can be forgotten. For others: delete the claims of its volumes or move them, then run stowage drives remove ${name}`;
}

const lostReasons: ReadonlySet<string> = new Set(['DeviceLost', 'InputOutputError', 'MountFailed']);

function parsedTarget(argument: string): {
  readonly kind: 'node' | 'drive' | undefined;
  readonly name: string;
} {
  for (const prefix of [drivePrefix, 'drive/'])
    if (argument.startsWith(prefix)) return { kind: 'drive', name: argument.slice(prefix.length) };
  return argument.startsWith('node/')
    ? { kind: 'node', name: argument.slice('node/'.length) }
    : { kind: undefined, name: argument };
}

/** Data of a node that still exists is not lost. */
async function requireNodeGone(cluster: Cluster, name: string): Promise<void> {
  if (!(await hasNode(cluster, name))) return;
  throw new CliError(
    `Node ${name} exists; if the machine is gone for good, run kubectl delete node ${name} first. If one drive of it is dead, run stowage drives forget with the name of that drive`,
  );
}

async function hasNode(cluster: Cluster, name: string): Promise<boolean> {
  return (await undefinedIfNotFound(cluster.resource(nodes).get({ name }))) !== undefined;
}

async function hasDrives(cluster: Cluster, node: string): Promise<boolean> {
  const { items } = await cluster.resource(drives).list();
  return items.some(({ spec }) => spec?.nodeName === node);
}
