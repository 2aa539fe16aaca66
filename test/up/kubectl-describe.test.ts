import { beforeAll, expect, test } from 'vitest';
import { describeWithKubectl } from './kubectl.ts';
import { timeless } from './kubectl-output.ts';
import { node, pods, statefulSet, storage } from './manifests.ts';

describeWithKubectl('kubectl describe', (kubectl) => {
  beforeAll(async () => {
    await kubectl.ok('create -f', kubectl.file([node, pods, storage, statefulSet].join('---')));
  });

  test('pod', async () => {
    expect(timeless(await kubectl.ok('describe pod web'))).toBe(`Name:         web
Namespace:    default
Priority:     0
Node:         node-a/
Labels:       app=web
              topology.kubernetes.io/zone=z1
Annotations:  <none>
Status:       Pending
IP:
IPs:          <none>
Containers:
  main:
    Image:      nginx:1.27
    Port:       <none>
    Host Port:  <none>
    Limits:
      memory:  128Mi
    Requests:
      cpu:     100m
      memory:  64Mi
    Environment:
      A:  b
    Mounts:
      /data from data (rw)
Volumes:
  data:
    Type:        PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:   data
    ReadOnly:    false
QoS Class:       Burstable
Node-Selectors:  <none>
Tolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                 node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
Events:          <none>
`);
  });

  test('persistent volume claim', async () => {
    expect(timeless(await kubectl.ok('describe pvc data'))).toBe(`Name:          data
Namespace:     default
StorageClass:  fast
Status:        Pending
Volume:
Labels:        <none>
Annotations:   <none>
Finalizers:    [kubernetes.io/pvc-protection]
Capacity:
Access Modes:
VolumeMode:    Filesystem
Used By:       web
Events:        <none>
`);
  });

  test('persistent volume', async () => {
    expect(timeless(await kubectl.ok('describe pv pv-a'))).toBe(`Name:              pv-a
Labels:            <none>
Annotations:       <none>
Finalizers:        [kubernetes.io/pv-protection]
StorageClass:      fast
Status:            Pending
Claim:
Reclaim Policy:    Delete
Access Modes:      RWO
VolumeMode:        Filesystem
Capacity:          2Gi
Node Affinity:
  Required Terms:
    Term 0:        topology.kubernetes.io/zone in [z1]
Message:
Source:
    Type:              CSI (a Container Storage Interface (CSI) volume source)
    Driver:            csi.example.com
    FSType:
    VolumeHandle:      vol-1
    ReadOnly:          false
    VolumeAttributes:      pool=a
Events:                <none>
`);
  });

  test('node', async () => {
    const printed = timeless(await kubectl.ok('describe node node-a'));
    expect(printed).toContain(`Name:               node-a
Roles:              <none>
Labels:             kubernetes.io/hostname=node-a
                    topology.kubernetes.io/zone=z1
Annotations:        <none>
CreationTimestamp:  <time>
Taints:             <none>
Unschedulable:      false
Lease:              Failed to get lease: leases.coordination.k8s.io "node-a" not found
`);
    expect(printed).toContain(`
Non-terminated Pods:          (1 in total)
  Namespace                   Name    CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----    ------------  ----------  ---------------  -------------  ---
  default                     web     100m (2%)     0 (0%)      64Mi (0%)        128Mi (1%)     <age>
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests   Limits
  --------           --------   ------
  cpu                100m (2%)  0 (0%)
  memory             64Mi (0%)  128Mi (1%)
  ephemeral-storage  0 (0%)     0 (0%)
`);
  });

  test('storage class', async () => {
    expect(await kubectl.ok('describe sc fast')).toBe(`Name:                  fast
IsDefaultClass:        No
Annotations:           <none>
Provisioner:           csi.example.com
Parameters:            type=ssd
AllowVolumeExpansion:  True
MountOptions:          <none>
ReclaimPolicy:         Delete
VolumeBindingMode:     WaitForFirstConsumer
Events:                <none>
`);
  });

  test('stateful set', async () => {
    const printed = timeless(await kubectl.ok('describe sts store'));
    expect(printed).toContain(`Name:               store
Namespace:          default
CreationTimestamp:  <time>
Selector:           app=store
Labels:             <none>
Annotations:        <none>
Replicas:           3 desired | 0 total
Update Strategy:    RollingUpdate
  Partition:        0
Pods Status:        0 Running / 0 Waiting / 0 Succeeded / 0 Failed
`);
    expect(printed).toContain(`
Volume Claims:
  Name:          data
  StorageClass:
  Labels:        <none>
  Annotations:   <none>
  Capacity:      1Gi
  Access Modes:  [ReadWriteOnce]
`);
  });

  test('its events, also in get events', async () => {
    const { uid } = JSON.parse(await kubectl.ok('get pod db -o json')).metadata;
    const involvedObject = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'db', uid };
    const about = {
      involvedObject,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: 'no node fits',
    };
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'db.1', namespace: 'default' },
      ...about,
      source: { component: 'test' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 3,
    };
    await kubectl.ok('create -f', kubectl.file(event));
    expect(await kubectl.ok('describe pod db')).toMatch(
      /Warning +FailedScheduling +\d+d \(x3 over \d+d\) +test +no node fits\n/,
    );
    expect(await kubectl.ok('get events --no-headers')).toMatch(
      /^\d+d +Warning +FailedScheduling +pod\/db +no node fits\n$/,
    );
    expect(await kubectl.ok('events --for pod/db --no-headers')).toMatch(
      /Warning +FailedScheduling +Pod\/db +no node fits\n$/,
    );
    expect(await kubectl.ok('get events.v1.events.k8s.io db.1 -o jsonpath={.note}')).toBe('no node fits');
  });
});
