/** A node as a kubelet would have registered it. */
export const node = `
apiVersion: v1
kind: Node
metadata: { name: node-a, labels: { topology.kubernetes.io/zone: z1, kubernetes.io/hostname: node-a } }
status:
  capacity: { cpu: "4", memory: 8Gi, pods: "110" }
  allocatable: { cpu: "4", memory: 8Gi, pods: "110" }
  conditions:
    - type: Ready
      status: "True"
      reason: KubeletReady
      message: kubelet is posting ready status
      lastHeartbeatTime: "2026-01-01T00:00:00Z"
      lastTransitionTime: "2026-01-01T00:00:00Z"
  addresses: [{ type: InternalIP, address: 10.0.0.1 }, { type: Hostname, address: node-a }]
  nodeInfo:
    machineID: m
    systemUUID: s
    bootID: b
    kernelVersion: 6.1.0
    osImage: Debian GNU/Linux 12
    containerRuntimeVersion: containerd://2.0.0
    kubeletVersion: v1.36.3
    kubeProxyVersion: ""
    operatingSystem: linux
    architecture: amd64
`;

export const pods = `
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  nodeName: node-a
  containers:
    - name: main
      image: nginx:1.27
      resources: { requests: { cpu: 100m, memory: 64Mi }, limits: { memory: 128Mi } }
      volumeMounts: [{ name: data, mountPath: /data }]
      env: [{ name: A, value: b }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]
---
apiVersion: v1
kind: Pod
metadata: { name: db, labels: { app: db } }
spec:
  containers: [{ name: main, image: postgres:17 }]
`;

export const storage = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], storageClassName: fast, resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: pv-a }
spec:
  capacity: { storage: 2Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  persistentVolumeReclaimPolicy: Delete
  csi: { driver: csi.example.com, volumeHandle: vol-1, volumeAttributes: { pool: a } }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{ key: topology.kubernetes.io/zone, operator: In, values: [z1] }]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: fast }
provisioner: csi.example.com
parameters: { type: ssd }
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
`;

export const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: store }
spec:
  serviceName: store
  replicas: 3
  selector: { matchLabels: { app: store } }
  template:
    metadata: { labels: { app: store } }
    spec: { containers: [{ name: main, image: redis:8 }] }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

export function configMap(name: string, ...lines: readonly string[]): string {
  return ['apiVersion: v1', 'kind: ConfigMap', 'metadata:', `  name: ${name}`, ...lines, ''].join('\n');
}
