import { get, patch, post, put, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const pods = '/api/v1/namespaces/{{ns}}/pods';
const c = { name: 'c', image: 'x:1' };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [c] } };

function container(more: object): object {
  return { spec: { containers: [{ ...c, ...more }] } };
}

function volume(more: object): object {
  return { spec: { volumes: [{ name: 'v', ...more }] } };
}

export const podScenarios: readonly Scenario[] = [
  creations('pods that are refused or warned of', pods, pod, [
    { spec: null },
    { spec: { containers: [] } },
    { spec: { containers: [c, c] } },
    { spec: { containers: [{ name: 'Bad_Name', image: '' }] } },
    { spec: { restartPolicy: 'Sometimes', dnsPolicy: 'Magic' } },
    { spec: { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 } },
    { spec: { nodeSelector: { 'bad key!': 'x' }, nodeName: 'Bad_Node' } },
    { spec: { priorityClassName: 'missing' } },
    { spec: { priority: 5 } },
    { spec: { priorityClassName: 'system-node-critical', priority: 3 } },
    { spec: { runtimeClassName: 'missing' } },
    { spec: { serviceAccountName: 'Bad_Name' } },
    { spec: { hostNetwork: true, containers: [{ ...c, ports: [{ containerPort: 80, hostPort: 81 }] }] } },
    { spec: { hostNetwork: true, dnsPolicy: 'None' } },
    { spec: { schedulingGates: [{ name: 'a' }], nodeName: 'n1' } },
    {
      spec: {
        tolerations: [
          { key: 'a', operator: 'Odd' },
          { operator: 'Equal' },
          { key: 'b', tolerationSeconds: 5 },
        ],
      },
    },
    { spec: { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'X' }] } },
    {
      spec: {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      },
    },
    {
      spec: {
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] } },
      },
    },
    { spec: { overhead: { cpu: '1' } } },
    { spec: { initContainers: [{ name: 'c', image: 'x' }] } },
    { spec: { ephemeralContainers: [{ name: 'e', image: 'x' }] } },
    { spec: { securityContext: { runAsUser: -1, fsGroup: -1, sysctls: [{ name: 'Bad', value: '' }] } } },
    { spec: { os: { name: 'plan9' } } },
    { spec: { readinessGates: [{ conditionType: 'bad type' }] } },
    { spec: { hostname: 'Bad_Host', subdomain: 'x_y' } },
    { spec: { imagePullSecrets: [{}] } },
    { spec: { hostAliases: [{ ip: 'x', hostnames: ['bad_name'] }] } },
    { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' } } },
    container({ image: ' spaced ' }),
    container({ imagePullPolicy: 'Often', terminationMessagePolicy: 'None', terminationMessagePath: 'x' }),
    container({
      ports: [
        { containerPort: 0 },
        { containerPort: 70_000, protocol: 'ICMP', name: 'Way_Too_Long_Port_Name' },
      ],
    }),
    container({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
    container({
      env: [
        { name: '' },
        { name: '=x' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
    }),
    container({
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } },
        { name: 'B', valueFrom: {} },
      ],
    }),
    container({
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    }),
    container({ envFrom: [{ prefix: '=', configMapRef: {} }] }),
    container({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
    container({ resources: { limits: { cpu: '-1' }, requests: { memory: '1.5' } } }),
    container({ resources: { limits: { storage: '1Gi' } } }),
    container({ resources: { requests: { 'odd thing': '1' } } }),
    container({ resources: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } } }),
    container({ resources: { limits: { cpu: '0.1m', memory: '100m' } } }),
    container({ volumeMounts: [{ name: 'missing', mountPath: '' }] }),
    container({ volumeDevices: [{ name: 'missing', devicePath: 'x' }] }),
    container({ livenessProbe: {} }),
    container({ livenessProbe: { httpGet: { port: 0 }, tcpSocket: { port: 1 }, timeoutSeconds: -1 } }),
    container({ readinessProbe: { exec: { command: [] }, terminationGracePeriodSeconds: 5 } }),
    container({ lifecycle: { preStop: {}, postStart: { exec: { command: [] } } } }),
    container({ securityContext: { privileged: true, allowPrivilegeEscalation: false, procMount: 'Odd' } }),
    container({ resizePolicy: [{ resourceName: 'disk', restartPolicy: 'Never' }] }),
    volume({ name: 'Bad_Volume', emptyDir: {} }),
    volume({ emptyDir: {}, hostPath: { path: '/x' } }),
    volume({ emptyDir: { medium: 'Tape', sizeLimit: '-1' } }),
    volume({ hostPath: { path: '../x', type: 'Odd' } }),
    volume({ hostPath: { path: '' } }),
    volume({ persistentVolumeClaim: { claimName: '' } }),
    volume({ persistentVolumeClaim: { claimName: 'Bad_Claim' } }),
    volume({ csi: { driver: '' } }),
    volume({ csi: { driver: 'Bad Driver', nodePublishSecretRef: {} } }),
    volume({ ephemeral: {} }),
    volume({ ephemeral: { volumeClaimTemplate: { spec: {} } } }),
    volume({
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { name: 'no' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    }),
    volume({ configMap: { items: [{ key: '', path: '/abs', mode: 4096 }] } }),
    volume({ secret: { defaultMode: -1 } }),
    volume({ projected: { sources: [{}] } }),
    volume({ nfs: { server: '', path: 'x' } }),
    volume({ awsElasticBlockStore: { volumeID: '' } }),
    volume({ image: { reference: '' } }),
    {
      spec: {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'v', emptyDir: {} },
        ],
      },
    },
    {
      spec: {
        volumes: [
          { name: 'a', persistentVolumeClaim: { claimName: 'x' } },
          { name: 'b', persistentVolumeClaim: { claimName: 'x' } },
        ],
      },
    },
  ]),
  changes({
    name: 'changes of pods',
    collection: pods,
    object: {
      ...pod,
      spec: { ...pod.spec, nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] },
    } as never,
    changes: [
      { spec: { containers: [{ ...c, image: 'y:2' }] } },
      { spec: { containers: [{ ...c, image: '' }] } },
      { spec: { containers: [{ ...c, name: 'other' }] } },
      { spec: { containers: [c, { name: 'd', image: 'x' }] } },
      { spec: { nodeName: 'n1' } },
      { spec: { nodeSelector: { c: 'd' } } },
      { spec: { nodeSelector: null } },
      { spec: { activeDeadlineSeconds: 10 } },
      { spec: { terminationGracePeriodSeconds: 1 } },
      {
        spec: {
          tolerations: [
            { key: 'k', operator: 'Exists' },
            { key: 'l', operator: 'Exists' },
          ],
        },
      },
      { spec: { tolerations: [] } },
      { spec: { priority: 5 } },
      { spec: { schedulerName: 'other' } },
      { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      { spec: { schedulingGates: [{ name: 'late' }] } },
      { status: { phase: 'Running' } },
      { metadata: { labels: { a: 'b' } } },
      [{ op: 'replace', path: '/spec/containers/0/image', value: 'z:3' }],
      [{ op: 'replace', path: '/spec/restartPolicy', value: 'Never' }],
    ],
  }),
  changes({
    name: 'changes of the status of pods',
    collection: pods,
    object: pod as never,
    subresource: 'status',
    changes: [
      { status: { phase: 'Running' }, spec: { nodeName: 'ignored' } },
      { status: { phase: 'Odd' } },
      { status: { nominatedNodeName: 'n1' } },
      { status: { nominatedNodeName: 'Bad_Name' } },
      { status: { conditions: [{ type: 'x', status: 'Perhaps' }] } },
      {
        status: {
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no' }],
        },
      },
      { status: { podIPs: [{ ip: 'x' }] } },
      { status: { podIP: '10.0.0.1' } },
      { status: { hostIP: 'x' } },
      { status: { containerStatuses: [{ name: 'other', state: {} }] } },
      {
        status: { containerStatuses: [{ name: 'c', restartCount: -1, state: { running: {}, waiting: {} } }] },
      },
      { status: { qosClass: 'Guaranteed' } },
      { status: null },
      { metadata: { labels: { by: 'status' }, finalizers: ['example.com/x'] } },
    ],
  }),
  scenario(
    'binding',
    post(pods, pod, { as: 'pod', form: 'metadata' }),
    ...[
      { target: {} },
      { target: { kind: 'Pod', name: 'n1' } },
      { target: { name: '' } },
      { target: { kind: 'Node', name: 'Bad_Name' } },
      { metadata: { name: 'other' }, target: { name: 'n1' } },
      { metadata: { uid: '00000000-0000-0000-0000-000000000000' }, target: { name: 'n1' } },
      { metadata: { resourceVersion: '1' }, target: { name: 'n1' } },
      { kind: 'Pod', apiVersion: 'v1', target: { name: 'n1' } },
    ].map((binding) => post(`${pods}/p/binding`, binding)),
    post(`${pods}/p/binding?dryRun=All`, { target: { name: 'n1' } }),
    post(`${pods}/missing/binding`, { target: { name: 'n1' } }),
    post(`${pods}/p/binding`, {
      metadata: { name: 'p', uid: '{{pod.metadata.uid}}', annotations: { a: 'b' }, labels: { c: 'd' } },
      target: { kind: 'Node', name: 'n1' },
    }),
    get(`${pods}/p`),
    post(`${pods}/p/binding`, { target: { name: 'n1' } }),
    post(`${pods}/p/binding`, { target: { name: 'n2' } }),
    post(
      pods,
      { ...pod, metadata: { name: 'gated' }, spec: { containers: [c], schedulingGates: [{ name: 'g' }] } },
      { form: 'metadata' },
    ),
    post(`${pods}/gated/binding`, { target: { name: 'n1' } }),
    post('/api/v1/namespaces/{{ns}}/bindings', { metadata: { name: 'gated' }, target: { name: 'n1' } }),
    post(pods, { ...pod, metadata: { name: 'going', finalizers: ['example.com/x'] } }, { form: 'metadata' }),
    { method: 'DELETE', path: `${pods}/going`, form: 'metadata' },
    post(`${pods}/going/binding`, { target: { name: 'n1' } }),
  ),
  scenario(
    'the other ways to change pods',
    post(pods, pod, { as: 'pod', form: 'metadata' }),
    get(`${pods}/p/ephemeralcontainers`, { form: 'metadata' }),
    patch(
      'strategic',
      `${pods}/p/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ name: 'e', image: 'x' }] } },
      { form: 'metadata' },
    ),
    patch(
      'strategic',
      `${pods}/p/resize`,
      { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } },
      { form: 'metadata' },
    ),
    put(`${pods}/missing`, pod),
    put(`${pods}/missing/status`, { ...pod, metadata: { name: 'missing' } }),
  ),
];
