import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedServer } from '../apiserver/embedded-server.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { systemRandom } from '../runtime/random.ts';
import { EmbeddedCluster } from './embedded-cluster.ts';
import { KubernetesCluster } from './kubernetes/client.ts';
import { clusterContract } from './testing/cluster.contract.ts';

/** Bugs of the server fail the test that triggered them. */
function startServer(dataDirectory?: string): Promise<EmbeddedServer> {
  return EmbeddedServer.start({
    dataDirectory,
    clock: realClock,
    ids: systemIds,
    random: systemRandom,
    onError: (error, where) => {
      throw new Error(`the server failed at ${where}`, { cause: error });
    },
  });
}

clusterContract('in process, in memory', async () => {
  const server = await startServer();
  const cluster = new EmbeddedCluster({ registry: server.registry, manager: 'contract' });
  return { cluster, close: () => server.close() };
});

clusterContract('in process, on disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-contract-'));
  const server = await startServer(directory);
  const cluster = new EmbeddedCluster({ registry: server.registry, manager: 'contract' });
  return {
    cluster,
    async close() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
});

clusterContract('over HTTPS', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-contract-'));
  const server = await startServer();
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig, { mode: 0o600 });
  const cluster = await KubernetesCluster.connect({
    kubeconfig,
    clock: realClock,
    random: systemRandom,
    env: {},
    rateLimit: false,
  });
  return {
    cluster,
    async close() {
      await cluster[Symbol.asyncDispose]();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
});
