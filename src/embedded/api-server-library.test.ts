import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, StorageV1Api, Watch } from '@kubernetes/client-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiError, resources, startApiServer } from './index.ts';

function configOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config;
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-apiserver-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe('the API server as a library', () => {
  test('serves clients by its kubeconfig, in memory, without controllers by default', async () => {
    await using server = await startApiServer();
    const core = configOf(server.kubeconfig).makeApiClient(CoreV1Api);
    await core.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name: 'settings' }, data: { colour: 'green' } },
    });
    expect((await core.readNamespacedConfigMap({ namespace: 'default', name: 'settings' })).data).toEqual({
      colour: 'green',
    });
    // Controller `serviceaccount` would have created one.
    const accounts = await core.listNamespacedServiceAccount({ namespace: 'default' });
    expect(accounts.items).toEqual([]);
  });

  test('runs the controllers that are named', async () => {
    await using server = await startApiServer({ controllers: 'scheduler,pv-binder,provisioner,node-agent' });
    const config = configOf(server.kubeconfig);
    const core = config.makeApiClient(CoreV1Api);
    await core.createNode({
      body: {
        metadata: { name: 'a', labels: { 'topology.kubernetes.io/zone': 'east' } },
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
          capacity: { cpu: '4', memory: '8Gi', pods: '10' },
        },
      },
    });
    await config.makeApiClient(StorageV1Api).createStorageClass({
      body: {
        metadata: { name: 'zonal' },
        provisioner: 'zonal.stowage.dev',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    });
    await core.createNamespacedPersistentVolumeClaim({
      namespace: 'default',
      body: {
        metadata: { name: 'data' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'zonal',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    });
    await core.createNamespacedPod({
      namespace: 'default',
      body: {
        metadata: { name: 'web' },
        spec: {
          containers: [{ name: 'web', image: 'web' }],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      },
    });
    await untilPodRuns(config);
    const claim = await core.readNamespacedPersistentVolumeClaim({ namespace: 'default', name: 'data' });
    expect(claim.status?.phase).toBe('Bound');
  });

  test('has a client that needs no HTTP', async () => {
    await using server = await startApiServer();
    const namespaces = server.cluster.resource(resources.namespaces);
    await namespaces.create({ metadata: { name: 'team' } });
    expect((await namespaces.get({ name: 'team' })).status?.phase).toBe('Active');
    await expect(namespaces.get({ name: 'absent' })).rejects.toThrow(ApiError);
  });

  test('continues with the data of an earlier start where it has a directory', async () => {
    const dataDirectory = temporaryDirectory();
    {
      await using server = await startApiServer({ dataDirectory });
      await server.cluster.resource(resources.namespaces).create({ metadata: { name: 'kept' } });
    }
    await using server = await startApiServer({ dataDirectory });
    expect((await server.cluster.resource(resources.namespaces).get({ name: 'kept' })).metadata?.name).toBe(
      'kept',
    );
  });

  test('closes once, however often it is asked', async () => {
    const server = await startApiServer();
    await Promise.all([server.close(), server.close()]);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  test('an unknown option is refused: nothing is started, and the error names it and the known ones', async () => {
    const misspelled = { dataDir: '/tmp/never', controllers: 'none' };
    await expect(startApiServer(misspelled)).rejects.toThrow(
      new TypeError(
        'options.dataDir: startApiServer has no such option; use dataDirectory, host, port, controllers, schedulerNames, onError',
      ),
    );
  });

  test('names the option and the choices where a controller does not exist', async () => {
    await expect(startApiServer({ controllers: 'schedular' })).rejects.toThrow(
      /^options\.controllers: unknown controller "schedular"; must be \*, none, or some of scheduler,/,
    );
  });
});

/** Watches as a client does, until the pod runs. */
async function untilPodRuns(config: KubeConfig): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const path = '/api/v1/namespaces/default/pods';
    const watching = new Watch(config).watch(
      path,
      {},
      (_, pod: { readonly status?: { readonly phase?: string } }) => {
        if (pod.status?.phase !== 'Running') return;
        resolve();
        void watching.then((controller) => controller.abort());
      },
      (error) => (error?.name === 'AbortError' ? resolve() : reject(error ?? new Error('the watch ended'))),
    );
  });
}
