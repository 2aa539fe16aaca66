import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readRecordItem } from '../../console/state/snapshot-file.ts';
import { FileTooLarge, readBounded } from '../../io/files/read-bounded.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { Event } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { diskViewIn } from '../../queries/view/disk-view.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { documentsOf, ManifestError, manifestObjects, readManifests } from '../../state/read-manifests.ts';
import { CliError } from '../errors/cli-error.ts';

export interface LoadFilesOptions {
  readonly onProgress: (text: string) => void;
  /** Called with objects of kinds that the view does not have. */
  readonly onOther?: (object: KubeObject) => void;
}

/** The files that are read in a folder; all others are ignored. */
const manifestNames = /\.(ya?ml|json)$/i;
const standardInput = 0;
/** A longer text does not fit into one string of the JavaScript engine. */
const fileBytesMax = 500 * 2 ** 20;

/** Reads a cluster from files, folders of files or standard input (`-`). */
export function loadFiles(
  paths: readonly string[],
  { onProgress, onOther }: LoadFilesOptions,
): Omit<ClusterView, 'notes'> {
  const snapshot = new ClusterSnapshot();
  const events: Event[] = [];
  const leases: Lease[] = [];
  const diskKinds: KubeObject[] = [];
  const policies: KubeObject[] = [];
  let isComplete = false;
  let objects = 0;
  for (const path of paths.flatMap(filesOf)) {
    onProgress(`reading ${path}`);
    try {
      const read = readManifests(textIn(path), path === '-' ? 'standard input' : path, snapshot);
      objects += read.objects;
      events.push(...read.events);
      leases.push(...read.leases);
      diskKinds.push(...read.diskKinds);
      policies.push(...read.policies);
      isComplete ||= read.others.some((object) => readRecordItem(object)?.isComplete === true);
      if (onOther !== undefined) read.others.forEach(onOther);
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      throw new CliError(error.message, 1, { cause: error });
    }
  }
  if (objects === 0)
    throw new CliError(
      `there are no objects in ${paths.join(', ')}; save some with kubectl get nodes,pods,pvc,pv,sc -A -o yaml`,
    );
  const disks = diskViewIn(diskKinds);
  const seesNodes = snapshot.count('Node') > 0;
  snapshot.knowsNodes = seesNodes || isComplete;
  return { snapshot, events, leases, disks, policies, seesNodes, isFromFiles: true, isComplete };
}

/** The objects in files, folders of files or standard input (`-`), of any kind. */
export function loadObjects(paths: readonly string[]): readonly KubeObject[] {
  return paths.flatMap(filesOf).flatMap((path) => parsed(path, manifestObjects));
}

/** The value in a file, or in standard input (`-`), which must be one document of YAML or JSON; undefined if it is empty. */
export function loadValue(path: string): unknown {
  const [value, ...others] = parsed(path, documentsOf);
  if (others.length === 0) return value;
  throw new CliError(`${path}: has ${others.length + 1} documents; it must have one`);
}

function parsed<Result>(path: string, parse: (text: string, source: string) => Result): Result {
  try {
    return parse(textIn(path), path === '-' ? 'standard input' : path);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new CliError(error.message, 1, { cause: error });
  }
}

function filesOf(path: string): readonly string[] {
  if (path === '-') return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => manifestNames.test(name));
    if (names.length === 0) throw new CliError(`${path}: has no .yaml, .yml or .json files`);
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function textIn(path: string): string {
  try {
    return readBounded(path === '-' ? standardInput : path, fileBytesMax);
  } catch (error) {
    if (error instanceof FileTooLarge)
      throw new CliError(
        `${path === '-' ? 'standard input' : path}: has more than ${fileBytesMax / 2 ** 20} MiB, which is the most that is read of one file; split it into several`,
        1,
        { cause: error },
      );
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOENT':
      return new CliError(`${path}: does not exist; name a file, a folder or -`);
    case 'EACCES':
    case 'EPERM':
      return new CliError(`${path}: cannot be read; check its permissions`);
    case 'EISDIR':
      return new CliError(`${path}: is a folder; name a file or -`);
    default:
      return error;
  }
}
