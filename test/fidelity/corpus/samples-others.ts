import type { Sample } from './lifecycle.ts';

const involvedObject = { kind: 'Pod', namespace: '{{ns}}', name: 'p', apiVersion: 'v1', uid: 'u' };

export const otherSamples: readonly Sample[] = [
  {
    apiVersion: 'v1',
    kind: 'Event',
    plural: 'events',
    minimal: { involvedObject: { namespace: '{{ns}}' } },
    rich: {
      involvedObject,
      reason: 'Scheduled',
      message: 'assigned',
      type: 'Normal',
      source: { component: 'scheduler', host: 'h' },
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:10Z',
      count: 3,
    },
    change: { count: 4, message: 'assigned again' },
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    plural: 'events',
    minimal: {
      eventTime: '2020-01-01T00:00:00.000001Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'Binding',
      reason: 'Scheduled',
      type: 'Normal',
      regarding: { namespace: '{{ns}}' },
    },
    rich: {
      eventTime: '2020-01-01T00:00:00.000001Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'Binding',
      reason: 'Scheduled',
      type: 'Warning',
      note: 'nothing fits',
      regarding: involvedObject,
      related: { kind: 'Node', name: 'n1' },
      series: { count: 2, lastObservedTime: '2020-01-01T00:01:00.000000Z' },
    },
    change: { series: { count: 3, lastObservedTime: '2020-01-01T00:02:00.000000Z' } },
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    plural: 'leases',
    minimal: {},
    rich: {
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2020-01-01T00:00:00.000000Z',
        renewTime: '2020-01-01T00:00:05.123456Z',
        leaseTransitions: 2,
      },
    },
    change: { spec: { renewTime: '2020-01-01T00:00:15.500000Z', holderIdentity: 'you' } },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    minimal: { spec: {} },
    rich: {
      spec: {
        minAvailable: '50%',
        selector: { matchLabels: { app: 'x' } },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
    change: { spec: { minAvailable: 1 } },
    status: {
      status: {
        observedGeneration: 2,
        disruptionsAllowed: 1,
        currentHealthy: 2,
        desiredHealthy: 1,
        expectedPods: 2,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: 'True',
            reason: 'SufficientPods',
            message: '',
            lastTransitionTime: '2020-01-01T00:00:00Z',
          },
        ],
      },
    },
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    isClusterWide: true,
    minimal: { value: 0 },
    rich: { value: 1000, preemptionPolicy: 'Never', description: 'd' },
    change: { description: 'other' },
  },
  {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    plural: 'runtimeclasses',
    isClusterWide: true,
    minimal: { handler: 'runc' },
    rich: {
      handler: 'kata',
      overhead: { podFixed: { memory: '1024Mi', cpu: '100m' } },
      scheduling: { nodeSelector: { kata: 'yes' }, tolerations: [{ key: 'kata', operator: 'Exists' }] },
    },
    change: { scheduling: { nodeSelector: { kata: 'no' } } },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    minimal: { addressType: 'IPv4', endpoints: [] },
    rich: {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'n1', zone: 'a', conditions: { ready: true } }],
      ports: [{ port: 80 }, { name: 'x', port: 53, protocol: 'UDP' }],
    },
    change: { endpoints: [] },
  },
];
