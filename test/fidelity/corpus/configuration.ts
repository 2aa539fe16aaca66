import { get, patch, post, put, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const core = '/api/v1/namespaces/{{ns}}';
const config = { metadata: { name: 'm' }, data: { a: 'b' } };
const runtimeClasses = '/apis/node.k8s.io/v1/runtimeclasses';
const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };

function ports(...list: readonly object[]): object {
  return { spec: { ports: list } };
}

/** Kinds that storage does not depend on, in less detail. */
export const configurationScenarios: readonly Scenario[] = [
  creations('config maps that are refused', `${core}/configmaps`, config, [
    { data: { 'bad key!': 'x' } },
    { data: { '..': 'x' } },
    { binaryData: { a: 'AA==' } },
    { binaryData: { b: 'not base64!' } },
    { data: { big: 'x'.repeat(1_048_577) } },
    { immutable: true },
  ]),
  scenario(
    'config maps and secrets that never change',
    post(`${core}/configmaps`, { ...config, immutable: true }, { form: 'metadata' }),
    patch('merge', `${core}/configmaps/m`, { data: { a: 'c' } }),
    patch('merge', `${core}/configmaps/m`, { immutable: false }),
    patch('merge', `${core}/configmaps/m`, { immutable: null, data: null }),
    patch('merge', `${core}/configmaps/m`, { metadata: { labels: { a: 'b' } } }, { form: 'metadata' }),
    post(`${core}/secrets`, { metadata: { name: 's' }, immutable: true, stringData: { a: 'b' } }),
    patch('merge', `${core}/secrets/s`, { stringData: { a: 'c' } }),
    patch('merge', `${core}/secrets/s`, { type: 'other' }),
  ),
  creations('secrets that are refused', `${core}/secrets`, { metadata: { name: 's' } }, [
    { data: { 'bad key!': 'AA==' } },
    { data: { a: '!' } },
    { type: 'kubernetes.io/dockerconfigjson' },
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } },
    { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } },
    { type: 'kubernetes.io/basic-auth' },
    { type: 'kubernetes.io/ssh-auth' },
    { type: 'kubernetes.io/service-account-token' },
    { type: 'example.com/own', stringData: { a: 'b' }, data: { a: 'AA==' } },
  ]),
  creations('services that are refused', `${core}/services`, service, [
    { spec: null },
    ports(),
    ports({ port: 0 }),
    ports({ port: 80 }, { port: 81 }),
    ports({ name: 'a', port: 80 }, { name: 'a', port: 80 }),
    ports({ port: 80, protocol: 'ICMP', targetPort: 'Bad_Port' }),
    ports({ port: 80, nodePort: 30000 }),
    { spec: { type: 'Odd' } },
    { spec: { type: 'ExternalName' } },
    { spec: { type: 'ExternalName', externalName: 'example.com' } },
    { spec: { clusterIP: 'x' } },
    { spec: { clusterIP: 'None' } },
    { spec: { clusterIP: '1.2.3.4' } },
    { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] } },
    { spec: { sessionAffinity: 'Odd' } },
    { spec: { selector: { 'bad key!': 'x' } } },
    { spec: { externalTrafficPolicy: 'Local' } },
    { spec: { internalTrafficPolicy: 'Odd' } },
    { spec: { ipFamilies: ['IPv6'] } },
    { spec: { ipFamilyPolicy: 'RequireDualStack' } },
    { spec: { type: 'LoadBalancer', loadBalancerClass: 'x.io/y' } },
    { spec: { loadBalancerSourceRanges: ['x'] } },
    { metadata: { name: '1bad' } },
  ]),
  changes({
    name: 'changes of services',
    collection: `${core}/services`,
    object: service,
    changes: [
      { spec: { type: 'NodePort' } },
      { spec: { type: 'ExternalName', externalName: 'example.com' } },
      { spec: { clusterIP: '10.96.200.200', clusterIPs: ['10.96.200.200'] } },
      { spec: { clusterIP: 'None', clusterIPs: null } },
      { spec: { ports: [{ port: 81, name: 'x' }] } },
      { spec: { ports: null } },
    ],
  }),
  creations(
    'priority classes that are refused',
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    { metadata: { name: 'fidelity-p' }, value: 5 },
    [
      { value: 2_000_000_000 },
      { value: null },
      { metadata: { name: 'system-mine' } },
      { preemptionPolicy: 'Odd' },
      { globalDefault: true },
    ],
  ),
  changes({
    name: 'changes of priority classes',
    collection: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: { metadata: { name: 'fidelity-p' }, value: 5 } as never,
    changes: [{ value: 6 }, { preemptionPolicy: 'Never' }, { globalDefault: true }, { description: 'd' }],
  }),
  scenario(
    'priority of pods',
    post(
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      { metadata: { name: 'fidelity-high' }, value: 1000, preemptionPolicy: 'Never' },
      { form: 'metadata' },
    ),
    post(
      `${core}/pods?dryRun=All`,
      {
        metadata: { name: 'p' },
        spec: { priorityClassName: 'fidelity-high', containers: [{ name: 'c', image: 'x:1' }] },
      },
      { settle: true },
    ),
    post(
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      { metadata: { name: 'fidelity-usual' }, value: 10, globalDefault: true },
      { form: 'metadata' },
    ),
    post(
      `${core}/pods?dryRun=All`,
      { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
      { settle: true },
    ),
    post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'fidelity-second' },
      value: 11,
      globalDefault: true,
    }),
    get('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical'),
    { method: 'DELETE', path: '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical' },
  ),
  creations(
    'limit ranges that are refused',
    `${core}/limitranges`,
    { metadata: { name: 'l' }, spec: { limits: [] } },
    [
      { spec: null },
      { spec: { limits: [{ type: 'Odd thing' }] } },
      { spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } },
      { spec: { limits: [{ type: 'Pod', default: { cpu: '1' } }] } },
      { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
      { spec: { limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '0.5' } }] } },
    ],
  ),
  creations(
    'quotas that are refused',
    `${core}/resourcequotas`,
    { metadata: { name: 'q' }, spec: { hard: { pods: '5' } } },
    [
      { spec: { hard: { pods: '-1' } } },
      { spec: { hard: { pods: '1.5' } } },
      { spec: { hard: { 'odd thing': '1' } } },
      { spec: { scopes: ['Odd'] } },
      { spec: { scopes: ['Terminating', 'NotTerminating'] } },
      { spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } } },
      { spec: null },
    ],
  ),
  creations(
    'endpoint slices that are refused',
    '/apis/discovery.k8s.io/v1/namespaces/{{ns}}/endpointslices',
    { metadata: { name: 'e' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] },
    [
      { addressType: null },
      { addressType: 'Odd' },
      { endpoints: [{ addresses: [] }] },
      { endpoints: [{ addresses: ['x'] }] },
      { ports: [{ port: 0 }, { name: 'Bad_Port' }] },
      { endpoints: null },
    ],
  ),
  creations(
    'runtime classes that are refused',
    '/apis/node.k8s.io/v1/runtimeclasses',
    { metadata: { name: 'fidelity-r' }, handler: 'x' },
    [
      { handler: null },
      { handler: 'Bad_Handler' },
      { overhead: { podFixed: { cpu: '-1' } } },
      { scheduling: { nodeSelector: { 'bad key!': 'x' } } },
    ],
  ),
  scenario(
    'runtime classes of pods',
    post(runtimeClasses, { metadata: { name: 'fidelity-plain' }, handler: 'x' }, { form: 'metadata' }),
    post(
      runtimeClasses,
      {
        metadata: { name: 'fidelity-heavy' },
        handler: 'x',
        overhead: { podFixed: { cpu: '250m', memory: '1024Mi' } },
        scheduling: {
          nodeSelector: { heavy: 'yes' },
          tolerations: [
            { key: 'heavy', operator: 'Exists' },
            { key: 'both', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
          ],
        },
      },
      { form: 'metadata' },
    ),
    ...[
      { runtimeClassName: 'fidelity-plain' },
      { runtimeClassName: 'fidelity-plain', overhead: { cpu: '1' } },
      { runtimeClassName: 'fidelity-heavy' },
      { runtimeClassName: 'fidelity-heavy', overhead: { cpu: '0.25', memory: '1Gi' } },
      { runtimeClassName: 'fidelity-heavy', overhead: { cpu: '1' } },
      { runtimeClassName: 'fidelity-heavy', nodeSelector: { own: 'too', heavy: 'yes' } },
      { runtimeClassName: 'fidelity-heavy', nodeSelector: { heavy: 'no' } },
      {
        runtimeClassName: 'fidelity-heavy',
        tolerations: [
          { key: 'heavy', operator: 'Equal', value: 'x', effect: 'NoSchedule' },
          { key: 'both', operator: 'Exists' },
        ],
      },
    ].map((spec) =>
      post(
        `${core}/pods?dryRun=All`,
        { metadata: { name: 'p' }, spec: { ...spec, containers: [{ name: 'c', image: 'x:1' }] } },
        { settle: true },
      ),
    ),
  ),
  scenario(
    'places of their own',
    put(
      `${core}/services/by-put`,
      { metadata: { name: 'by-put' }, spec: { ports: [{ port: 1 }] } },
      { form: 'metadata' },
    ),
    put(`${core}/endpoints/by-put`, { metadata: { name: 'by-put' } }, { form: 'metadata' }),
    put(
      `${core}/limitranges/by-put`,
      { metadata: { name: 'by-put' }, spec: { limits: [] } },
      { form: 'metadata' },
    ),
    get(`${core}/secrets?fieldSelector=type%3DOpaque`),
    get(`${core}/services?fieldSelector=spec.type%3DClusterIP`, { form: 'metadata' }),
    get(`${core}/services?fieldSelector=spec.clusterIP%3DNone`),
    get(`${core}/serviceaccounts/default/token`),
    post(`${core}/serviceaccounts/missing/token`, { spec: { audiences: ['x'] } }),
  ),
];
