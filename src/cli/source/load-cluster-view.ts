import type { ClusterView } from '../../queries/view/cluster-view.ts';
import type { Log } from '../../runtime/log.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import type { Progress } from '../output/progress.ts';
import { progressOf } from '../output/progress-of.ts';
import { connectToRead, loadCluster } from './load-cluster.ts';
import { loadFiles } from './load-files.ts';
import { overlayFiles } from './overlay-files.ts';

/** The flags of every command that only reads. */
export interface SourceFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** One path for each use of the flag. */
  readonly from?: readonly string[];
}

/** The object of a command. Without a name the command concerns all objects of the namespace, or of the cluster. */
export interface LoadTarget {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Reads PriorityClasses and PodDisruptionBudgets too. */
  readonly needsPolicies?: boolean;
}

export interface LoadedView {
  readonly view: ClusterView;
  /** The namespace of the target, or else of the context. */
  readonly namespace: string;
  /** Describes the source in messages. */
  readonly where: string;
  /** True if the objects come from files only. */
  readonly isFromFiles: boolean;
}

/** Reads a whole cluster, live or from files. The notes say what could not be read. */
export async function loadClusterView(flags: SourceFlags, target: LoadTarget = {}): Promise<LoadedView> {
  const log = logForReading(flags);
  const progress = progressOf(log);
  try {
    return await loadFromSource(flags, target, { log, progress });
  } finally {
    progress.end();
  }
}

/**
 * Files alone form a cluster. Together with `--kubeconfig` or `--context` they change the live one, in memory only: that
 * answers what-if questions.
 */
export async function loadFromSource(
  { from, kubeconfig, context }: SourceFlags,
  target: LoadTarget,
  { log, progress }: { readonly log: Log; readonly progress: Pick<Progress, 'tell'> },
): Promise<LoadedView> {
  const onProgress = (text: string) => progress.tell(text);
  const files = from && loadFiles(from, { onProgress });
  const isLive = from === undefined || kubeconfig !== undefined || context !== undefined;
  if (files !== undefined && !isLive) {
    const namespace = target.namespace ?? 'default';
    // A second file may describe what does not exist yet.
    const view = { ...files, notes: [], isHypothetical: from!.length > 1 };
    return { view, namespace, where: from!.join(', '), isFromFiles: true };
  }
  await using cluster = await connectToRead({ kubeconfig, context }, log);
  const { server, source } = cluster;
  const namespace = target.namespace ?? cluster.namespace;
  const live = await loadCluster(
    cluster,
    target.name === undefined ? { namespace } : { namespace, name: target.name },
    {
      server,
      source,
      onProgress,
      serverVersion: () => cluster.serverVersion(),
      needsPolicies: target.needsPolicies === true,
    },
  );
  const view = files === undefined ? live : overlayFiles(live, files, from!);
  return { view, namespace, where: server, isFromFiles: false };
}
