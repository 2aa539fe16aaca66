import { usage } from '../cli-error.ts';
import { type LogFlags, logForReading } from '../log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import type { ClusterView } from './cluster-view.ts';
import { connectToRead, loadCluster } from './load-cluster.ts';
import { loadFiles } from './load-files.ts';

/** Where to look: the flags that every command has that only reads. */
export interface SourceFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** As often as given. */
  readonly from?: readonly string[];
}

/** The whole of a cluster, live or from files. What may not be seen, and what files lack, is in the notes. */
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
      throw usage('--from reads files, --kubeconfig and --context a cluster; give one of them');
    return { ...loadFiles(from, { onProgress }), notes: [] };
  } finally {
    progress.end();
  }
}
