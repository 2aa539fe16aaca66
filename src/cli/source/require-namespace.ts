import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { CliError } from '../errors/cli-error.ts';

/** Throws if the namespace does not exist. Without namespaces in the view nothing is known, and nothing is said. */
export function requireNamespace({ snapshot }: ClusterView, namespace: string, where: string): void {
  if (snapshot.count('Namespace') === 0 || snapshot.get('Namespace', namespace) !== undefined) return;
  throw new CliError(
    `there is no namespace ${namespace} in ${where}; kubectl get namespaces lists those there are`,
  );
}
