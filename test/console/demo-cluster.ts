import type { Cluster } from '../../src/cluster/cluster.ts';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import { pods } from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { ConsoleProgram } from './stowage-program.ts';

/** The cluster of `up`, by its admin's kubeconfig. */
export async function clusterOf({ folder }: ConsoleProgram): Promise<Cluster & AsyncDisposable> {
  const kubeconfig = `${folder}/data/kubeconfig`;
  return await KubernetesCluster.connect({ clock: realClock, random: systemRandom, env: {}, kubeconfig });
}

export async function createPod(program: ConsoleProgram, namespace: string, name: string): Promise<void> {
  await using cluster = await clusterOf(program);
  await cluster.resource(pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers: [{ name: 'main', image: 'example.invalid/none' }] },
  });
}
