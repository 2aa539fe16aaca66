import { realClock } from '../../runtime/clock.ts';
import { usage } from '../cli-error.ts';
import { Progress } from '../output/progress.ts';
import { terminalOf } from '../output/terminal.ts';
import { connectToRead, loadCluster } from './load-cluster.ts';
import { loadFiles } from './load-files.ts';
import type { World } from './world.ts';

/** Where to look: the flags that every command has that only reads. */
export interface SourceFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** As often as given. */
  readonly from?: readonly string[];
}

/** The whole of a cluster, live or from files. What may not be seen, and what files lack, is in the notes. */
export async function loadWorld({ from, kubeconfig, context }: SourceFlags): Promise<World> {
  const progress = new Progress(terminalOf(process.stderr, process.env), realClock, (text) => {
    process.stderr.write(text);
  });
  const onProgress = (text: string) => progress.tell(text);
  try {
    if (from === undefined) {
      await using cluster = await connectToRead({ kubeconfig, context });
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
