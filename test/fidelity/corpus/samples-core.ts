import { largePodSpec } from './large-pod.ts';
import type { Sample } from './lifecycle.ts';

export const coreSamples: readonly Sample[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    plural: 'pods',
    minimal: { spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    rich: { spec: largePodSpec },
    change: { spec: { activeDeadlineSeconds: 100 } },
    status: {
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }],
        hostIP: '192.168.0.1',
        startTime: '2020-01-01T00:00:00Z',
        conditions: [
          { type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' },
          { type: 'PodScheduled', status: 'True', lastProbeTime: null },
        ],
        containerStatuses: [
          {
            name: 'main',
            ready: true,
            restartCount: 2,
            image: 'nginx:1',
            imageID: 'x',
            containerID: 'containerd://1',
            started: true,
            state: { running: { startedAt: '2020-01-01T00:00:00Z' } },
          },
        ],
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Node',
    plural: 'nodes',
    isClusterWide: true,
    minimal: {},
    rich: {
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'test://1',
        unschedulable: true,
        taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }],
      },
    },
    change: {
      spec: {
        unschedulable: null,
        taints: [{ key: 'k', effect: 'NoExecute', timeAdded: '2020-01-01T00:00:00Z' }],
      },
    },
    status: {
      status: {
        capacity: { cpu: '4', memory: '8192Mi', pods: '110', 'example.com/disk': '2' },
        allocatable: { cpu: '3500m', memory: '8Gi', pods: '110' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'KubeletReady',
            message: 'fine',
            lastHeartbeatTime: '2020-01-01T00:00:00Z',
            lastTransitionTime: '2020-01-01T00:00:00Z',
          },
        ],
        addresses: [
          { type: 'InternalIP', address: '192.168.0.1' },
          { type: 'Hostname', address: 'h' },
        ],
        nodeInfo: {
          machineID: 'm',
          systemUUID: 's',
          bootID: 'b',
          kernelVersion: '6.1',
          osImage: 'Debian',
          containerRuntimeVersion: 'containerd://2',
          kubeletVersion: 'v1.36.3',
          kubeProxyVersion: '',
          operatingSystem: 'linux',
          architecture: 'amd64',
        },
        volumesAttached: [{ name: 'kubernetes.io/csi/a^1', devicePath: '/dev/x' }],
        volumesInUse: ['kubernetes.io/csi/a^1'],
        images: [{ names: ['nginx:1'], sizeBytes: 100 }],
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    isClusterWide: true,
    minimal: {},
    rich: { spec: { finalizers: ['example.com/mine', 'kubernetes'] } },
    change: { metadata: { labels: { changed: 'yes' } } },
    status: {
      status: {
        conditions: [
          { type: 'NamespaceContentRemaining', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' },
        ],
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    plural: 'podtemplates',
    minimal: { template: { spec: { containers: [{ name: 'c', image: 'nginx:1' }] } } },
    rich: {
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            { name: 'c', image: 'nginx:1' },
            { name: 'd', image: 'redis' },
          ],
          restartPolicy: 'Never',
        },
      },
    },
    change: { template: { metadata: { labels: { a: 'c' } } } },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    minimal: {},
    rich: { data: { 'a.txt': 'x', b: 'multi\nline' }, binaryData: { bin: 'AAEC' } },
    change: { data: { b: null, c: 'new' } },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    minimal: {},
    rich: { type: 'kubernetes.io/basic-auth', data: { username: 'YQ==' }, stringData: { password: 'p' } },
    change: { data: { extra: 'Yg==' } },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    minimal: { spec: { ports: [{ port: 80 }] } },
    rich: {
      spec: {
        type: 'NodePort',
        selector: { app: 'web' },
        ports: [
          { name: 'http', port: 80, targetPort: 'web', nodePort: 30080 },
          { name: 'dns', port: 53, protocol: 'UDP', appProtocol: 'example.com/dns' },
        ],
        sessionAffinity: 'ClientIP',
        externalTrafficPolicy: 'Local',
        publishNotReadyAddresses: true,
        externalIPs: ['1.2.3.4'],
      },
    },
    change: { spec: { selector: { app: 'api' }, sessionAffinity: 'None', sessionAffinityConfig: null } },
    status: { status: { loadBalancer: {}, conditions: [] } },
  },
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    minimal: {},
    rich: {
      secrets: [{ name: 'a' }],
      imagePullSecrets: [{ name: 'b' }],
      automountServiceAccountToken: false,
    },
    change: { automountServiceAccountToken: true },
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    plural: 'endpoints',
    minimal: {},
    rich: {
      subsets: [
        {
          addresses: [
            { ip: '10.0.0.2', nodeName: 'n1' },
            { ip: '10.0.0.1', hostname: 'h' },
          ],
          notReadyAddresses: [{ ip: '10.0.0.3' }],
          ports: [
            { name: 'http', port: 80 },
            { name: 'dns', port: 53, protocol: 'UDP' },
          ],
        },
      ],
    },
    change: { subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 1 }] }] },
  },
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    minimal: { spec: { limits: [] } },
    rich: {
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '2', memory: '1024Mi' },
            default: { cpu: '1' },
            min: { cpu: '100m' },
          },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '100Gi' } },
        ],
      },
    },
    change: { spec: { limits: [{ type: 'Pod', max: { cpu: '4' } }] } },
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    minimal: {},
    rich: {
      spec: {
        hard: { 'requests.storage': '100Gi', persistentvolumeclaims: '10', 'count/configmaps': '1000' },
      },
    },
    change: { spec: { hard: { persistentvolumeclaims: '20' } } },
    status: { status: { hard: { persistentvolumeclaims: '20' }, used: { persistentvolumeclaims: '1' } } },
  },
];
