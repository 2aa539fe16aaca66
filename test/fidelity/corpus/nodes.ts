import { asTable, get, patch, post, put, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const nodes = '/api/v1/nodes';
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'fidelity-n1', labels: { zone: 'a' } },
  spec: { podCIDR: '10.1.0.0/24' },
};
const namespaces = '/api/v1/namespaces';

export const nodeScenarios: readonly Scenario[] = [
  creations('nodes that are refused', nodes, node, [
    { metadata: { name: 'Bad_Node' } },
    { spec: { taints: [{ key: '', effect: 'NoSchedule' }] } },
    { spec: { taints: [{ key: 'a', effect: 'Odd' }] } },
    {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    },
    { spec: { podCIDR: 'x' } },
    { spec: { podCIDR: null, podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'] } },
    { spec: { podCIDR: '10.9.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
    { spec: { configSource: {} } },
    { spec: { externalID: 'x' } },
    { metadata: { labels: { 'beta.kubernetes.io/os': 'linux' } } },
    { status: { capacity: { cpu: '1' } } },
    {
      status: {
        capacity: { cpu: '-1' },
        addresses: [
          { type: 'InternalIP', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
    },
  ]),
  changes({
    name: 'changes of nodes',
    collection: nodes,
    object: node,
    changes: [
      { spec: { podCIDR: '10.2.0.0/24' } },
      { spec: { podCIDR: null, podCIDRs: null } },
      { spec: { providerID: 'a://1' } },
      { spec: { unschedulable: true } },
      { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } },
      { spec: { taints: [{ key: 'a b', effect: 'NoExecute' }] } },
      { metadata: { labels: { zone: 'b' } } },
      { status: { capacity: { cpu: '4' } } },
      { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/preferAvoidPods': '{' } } },
    ],
  }),
  changes({
    name: 'changes of the status of nodes',
    collection: nodes,
    object: { ...node, metadata: { name: 'fidelity-n2' } },
    subresource: 'status',
    changes: [
      { status: { capacity: { cpu: '4', pods: '110' }, allocatable: { cpu: '4' } } },
      { status: { capacity: { cpu: 'x' } } },
      { status: { capacity: { 'hugepages-2Mi': '1Mi' } } },
      { status: { capacity: { pods: '1.5' } } },
      {
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'Ready', status: 'False' },
          ],
        },
      },
      { status: { addresses: [{ type: 'InternalIP', address: '1.2.3.4' }] } },
      { status: { volumesAttached: [{ name: 'v', devicePath: '' }] } },
      { status: { images: [{ names: ['a'], sizeBytes: -1 }] } },
      { status: null },
      { spec: { unschedulable: true }, metadata: { labels: { by: 'status' } } },
    ],
  }),
  scenario(
    'tables and lists of nodes',
    post(
      nodes,
      {
        metadata: {
          name: 'fidelity-a',
          labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'worker' },
        },
      },
      { form: 'metadata' },
    ),
    post(nodes, { metadata: { name: 'fidelity-b' }, spec: { unschedulable: true } }, { form: 'metadata' }),
    patch('merge', `${nodes}/fidelity-b/status`, {
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        nodeInfo: { kubeletVersion: 'v1.36.3' },
        addresses: [
          { type: 'InternalIP', address: '1.2.3.4' },
          { type: 'ExternalIP', address: '5.6.7.8' },
        ],
      },
    }),
    get(nodes, { accept: asTable }),
    get(`${nodes}?fieldSelector=spec.unschedulable%3Dtrue`, { accept: asTable }),
    get(`${nodes}?fieldSelector=spec.unschedulable%3Dfalse`, { accept: asTable }),
    get(`${nodes}?fieldSelector=spec.taints%3Dx`),
    get(`${nodes}/fidelity-a/status`, { form: 'metadata' }),
    { method: 'DELETE', path: `${nodes}/fidelity-a` },
    { method: 'DELETE', path: `${nodes}/fidelity-b?gracePeriodSeconds=30` },
  ),
  creations('namespaces that are refused', namespaces, { metadata: { name: 'fidelity-new' } }, [
    { metadata: { name: 'a.b' } },
    { metadata: { name: 'x'.repeat(64) } },
    { metadata: { name: null, generateName: 'gen-' } },
    { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
    { spec: { finalizers: ['bad'] } },
    { spec: { finalizers: ['example.com/ok'] } },
    { metadata: { namespace: 'x' } },
    { status: { phase: 'Terminating' } },
    { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'odd' } } },
  ]),
  changes({
    name: 'changes of namespaces',
    collection: namespaces,
    object: { metadata: { name: 'fidelity-changed' } },
    changes: [
      { metadata: { labels: { a: 'b' } } },
      { metadata: { labels: null } },
      { spec: { finalizers: [] } },
      { spec: { finalizers: ['example.com/x', 'kubernetes'] } },
      { status: { phase: 'Terminating' } },
    ],
  }),
  scenario(
    'namespaces, step by step to their end',
    post(namespaces, { metadata: { name: 'fidelity-end', finalizers: ['example.com/x'] } }, { as: 'ns1' }),
    put(`${namespaces}/fidelity-end/status`, { status: { phase: 'Terminating' } }, { from: 'ns1' }),
    put(
      `${namespaces}/fidelity-end/finalize`,
      {
        spec: { finalizers: ['kubernetes', 'example.com/y'] },
        metadata: { labels: { z: 'z' }, resourceVersion: null },
      },
      { from: 'ns1' },
    ),
    put(
      `${namespaces}/fidelity-end/finalize`,
      { spec: { finalizers: ['bad name'] }, metadata: { resourceVersion: null } },
      { from: 'ns1' },
    ),
    { method: 'DELETE', path: `${namespaces}/fidelity-end` },
    get(`${namespaces}/fidelity-end`, { accept: asTable }),
    get(`${namespaces}?fieldSelector=status.phase%3DTerminating`, { accept: asTable }),
    patch('merge', `${namespaces}/fidelity-end`, { metadata: { finalizers: null } }),
    put(`${namespaces}/fidelity-end/finalize`, { metadata: { name: 'fidelity-end' }, spec: {} }),
    get(`${namespaces}/fidelity-end`),
    put(`${namespaces}/missing/finalize`, { metadata: { name: 'missing' } }),
    get(`${namespaces}/default/finalize`),
  ),
];
