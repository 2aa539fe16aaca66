import { usage } from '../cli-error.ts';
import { type LogFlags, logForReading } from '../log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import type { ClusterView } from './cluster-view.ts';
import { connectToRead, loadCluster } from './load-cluster.ts';
import { loadFiles } from './load-files.ts';

/** The flags of every command that only reads. */
export interface SourceFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** One path for each use of the flag. */
  readonly from?: readonly string[];
}

/** Reads a whole cluster, live or from files. The notes say what could not be read. */
export async function loadClusterView({
  from,
  kubeconfig,
  context,
  verbose,
}: SourceFlags): Promise<ClusterView> {
  const log = logForReading({ verbose });
  const progress = progressOf(log);
  const onProgress = (text: string) => progress.tell(text);
  try {
    if (from === undefined) {
      await using cluster = await connectToRead({ kubeconfig, context }, log);
      const { server, source, namespace } = cluster;
      return await loadCluster(cluster, { namespace }, { server, source, onProgress });
    }
    if (kubeconfig !== undefined || context !== undefined)
      throw usage('--from reads files, and --kubeconfig and --context read a cluster; give only one');
    return { ...loadFiles(from, { onProgress }), notes: [] };
  } finally {
    progress.end();
  }
}
