/** A pod that uses most fields, in particular those about storage and placement. */
export const largePodSpec = {
  nodeSelector: { disk: 'ssd' },
  terminationGracePeriodSeconds: 60,
  serviceAccountName: 'robot',
  automountServiceAccountToken: false,
  hostname: 'h',
  subdomain: 's',
  priorityClassName: 'system-cluster-critical',
  schedulerName: 'stowage',
  schedulingGates: [{ name: 'example.com/wait' }],
  securityContext: {
    fsGroup: 1000,
    fsGroupChangePolicy: 'OnRootMismatch',
    runAsNonRoot: true,
    runAsUser: 1000,
    supplementalGroups: [1, 2],
    seccompProfile: { type: 'RuntimeDefault' },
    sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
  },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: 'zone', operator: 'In', values: ['a'] },
              { key: 'cores', operator: 'Gt', values: ['4'] },
            ],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 10, preference: { matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] } },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: {
            labelSelector: {},
            topologyKey: 'zone',
            namespaceSelector: {},
            namespaces: ['x'],
          },
        },
      ],
    },
  },
  tolerations: [
    { key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
  ],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { a: 'b' } },
    },
    {
      maxSkew: 2,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      minDomains: null,
    },
  ],
  initContainers: [
    { name: 'init', image: 'busybox:1', command: ['sh', '-c', 'true'] },
    {
      name: 'sidecar',
      image: 'proxy@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      restartPolicy: 'Always',
    },
  ],
  containers: [
    {
      name: 'main',
      image: 'nginx:1',
      args: ['a'],
      workingDir: '/w',
      ports: [
        { containerPort: 80, name: 'http' },
        { containerPort: 53, protocol: 'UDP' },
      ],
      env: [
        { name: 'PLAIN', value: 'x' },
        { name: 'EMPTY' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', containerName: 'main' } } },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'cm' } }],
      resources: {
        limits: { cpu: '1000m', memory: '1Gi' },
        requests: { cpu: '0.5', 'ephemeral-storage': '1G' },
      },
      volumeMounts: [
        { name: 'data', mountPath: '/data', subPath: 'sub' },
        { name: 'scratch', mountPath: '/scratch', readOnly: true, mountPropagation: 'HostToContainer' },
      ],
      volumeDevices: [{ name: 'raw', devicePath: '/dev/raw' }],
      livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 3 },
      readinessProbe: { tcpSocket: { port: 80 } },
      startupProbe: { exec: { command: ['true'] }, failureThreshold: 30 },
      lifecycle: { preStop: { sleep: { seconds: 1 } }, postStart: { httpGet: { port: 80 } } },
      securityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
      terminationMessagePolicy: 'FallbackToLogsOnError',
    },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
    {
      name: 'raw',
      ephemeral: {
        volumeClaimTemplate: {
          spec: {
            accessModes: ['ReadWriteOnce'],
            volumeMode: 'Block',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      },
    },
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1024Mi' } },
    { name: 'cfg', configMap: { name: 'cm', items: [{ key: 'a', path: 'b/c', mode: 256 }] } },
    { name: 'sec', secret: { secretName: 's' } },
    { name: 'host', hostPath: { path: '/var' } },
    { name: 'down', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'all',
      projected: { sources: [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'cm' } }] },
    },
    { name: 'csi', csi: { driver: 'csi.example.com', volumeAttributes: { a: 'b' } } },
    { name: 'nothing' },
  ],
} as const;
