import { explain, headroom, plan, snapshotOf } from 'stowage/queries';

const object = (kind, name, rest, apiVersion = 'v1') => ({
  apiVersion,
  kind,
  ...rest,
  metadata: { name, ...rest.metadata },
});
const node = (name) =>
  object('Node', name, {
    metadata: { labels: { 'kubernetes.io/hostname': name } },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
  });
const disk = (name, nodeName) =>
  object('PersistentVolume', name, {
    spec: {
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
          ],
        },
      },
    },
    status: { phase: 'Available' },
  });
const pod = (name, nodeName) =>
  object('Pod', name, {
    metadata: { namespace: 'shop' },
    spec: { nodeName, containers: [{ name: 'main', resources: { requests: { memory: '6Gi' } } }] },
  });

// Objects as the API server returns them: from informers, from lists, or from files.
const objects = [
  node('node-1'),
  node('node-2'),
  object(
    'StorageClass',
    'local',
    { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' },
    'storage.k8s.io/v1',
  ),
  disk('disk-1', 'node-1'),
  disk('disk-2', 'node-2'),
  pod('web-1', 'node-1'),
  pod('web-2', 'node-2'),
  pod('web-3'),
];
const snapshot = snapshotOf(objects, { isComplete: true });

const { verdict, summary, remedies } = explain(snapshot, { namespace: 'shop', name: 'web-3' });
console.log(`${verdict}: ${summary}`);
for (const { text } of remedies) console.log(`- ${text}`);

console.log(plan(snapshot, [{ kind: 'add-nodes', count: 1, like: 'node-1' }]).summary);

for (const { of, count } of headroom(snapshot, { size: '10Gi' }).rows)
  console.log(`${of}: ${count} more volumes of 10Gi`);
