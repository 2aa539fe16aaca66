import { ClusterIndex, Ledger, plan } from 'stowage/engine';

const index = new ClusterIndex();
for (const name of ['node-1', 'node-2']) {
  index.upsert('Node', {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { allocatable: { cpu: '4', memory: '16Gi', pods: '110' } },
  });
}
index.upsert('StorageClass', {
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
});
const disk = (name, node, storage) => ({
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
        ],
      },
    },
  },
  status: { phase: 'Available' },
});
index.upsert('PersistentVolume', disk('ssd-1', 'node-1', '40Gi'));
index.upsert('PersistentVolume', disk('ssd-2', 'node-2', '100Gi'));

const claim = (name, storage) => ({
  metadata: { namespace: 'default', name, uid: name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: { requests: { storage } } },
});
const pod = (name, claimName) => ({
  metadata: { namespace: 'default', name, uid: name },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
});
index.upsert('PersistentVolumeClaim', claim('db', '50Gi'));
index.upsert('PersistentVolumeClaim', claim('cache', '50Gi'));

const ledger = new Ledger(index);
for (const [name, claimName] of [
  ['db-0', 'db'],
  ['cache-0', 'cache'],
]) {
  const answer = plan(pod(name, claimName), index, { nowMs: Date.now() });
  if (answer.kind === 'placement') {
    const { kind } = ledger.reserve(answer); // from here on the engine offers this volume to no other pod
    console.log(`${name} goes to ${answer.node} with ${answer.bindings[0].volume}: ${kind}`);
  } else {
    console.log(`${name}: ${answer.message}`);
    const [first] = answer.explain().nodes;
    console.log(first.node, first.findings[0].reason, JSON.stringify(first.findings[0].candidates));
  }
}
