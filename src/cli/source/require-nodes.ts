import { CliError } from '../errors/cli-error.ts';
import type { LoadedView } from './load-cluster-view.ts';

/** Without nodes nothing can be predicted. */
export function requireNodes({ view, where, isFromFiles }: Omit<LoadedView, 'namespace'>): void {
  if (view.seesNodes) return;
  throw new CliError(
    isFromFiles
      ? `there is no node in ${where}; add the output of kubectl get nodes -o yaml`
      : 'could not read nodes: forbidden; ask for the right to list them',
  );
}
