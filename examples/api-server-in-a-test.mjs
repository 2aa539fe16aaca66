// A test of your own program against a Kubernetes API server inside the test process. Run it with: node --test examples/api-server-in-a-test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { startApiServer } from 'stowage/apiserver';

test('a pod gets a node with enough cpu', async (t) => {
  const server = await startApiServer({ controllers: 'scheduler,node-agent' });
  t.after(() => server.close());
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);

  for (const [name, cpu] of [
    ['small', '1'],
    ['large', '8'],
  ]) {
    const amounts = { cpu, memory: '4Gi', pods: '10' };
    await core.createNode({
      body: { metadata: { name }, status: { allocatable: amounts, capacity: amounts } },
    });
  }
  const container = { name: 'web', image: 'web', resources: { requests: { cpu: '4' } } };
  await core.createNamespacedPod({
    namespace: 'default',
    body: { metadata: { name: 'web' }, spec: { containers: [container] } },
  });

  const pod = await untilPlaced(core, 'web');
  assert.equal(pod.spec?.nodeName, 'large');
});

async function untilPlaced(core, name) {
  for (;;) {
    const pod = await core.readNamespacedPod({ namespace: 'default', name });
    if (pod.spec?.nodeName !== undefined) return pod;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
