/** Which changes make the scheduler try a pod again that was refused for other reasons than volumes, and which do not. */
import { describe } from 'vitest';
import type { PodSpec } from '../../../kube/api/core.ts';
import { namespaces, nodes, persistentVolumeClaims, pods, services } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { namespace, type SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { cpu, onOneNode, onSeparateNodes } from './testing/fixtures.ts';
import { expectWakes, type FixtureStep, type WakeRow } from './testing/wake-table.ts';

const merge = (body: object) => ({ type: 'merge', body }) as const;

async function patchNode(fixture: SchedulerFixture, body: object, subresource?: string): Promise<void> {
  const options = subresource === undefined ? {} : { subresource };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, merge(body), options);
}

async function patchPod(
  fixture: SchedulerFixture,
  name: string,
  body: object,
  subresource?: string,
): Promise<void> {
  const options = subresource === undefined ? {} : { subresource };
  await fixture.cluster.resource(pods).patch({ namespace, name }, merge(body), options);
}

/** A pod that another scheduler has put on n1. */
function theirs(name: string, spec: PodSpec = {}, app = 'theirs'): FixtureStep {
  const metadata = { namespace, name, labels: { app } };
  return (fixture) =>
    fixture.pod(name, [], { metadata, spec: { schedulerName: 'another', nodeName: 'n1', ...spec } });
}

function gone(name: string): FixtureStep {
  return (fixture) => fixture.cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}

const heartbeat: WakeRow = {
  name: 'the heartbeat of a node',
  step: (w) => {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2025-01-01T00:10:00Z' }];
    return patchNode(w, { status: { conditions } }, 'status');
  },
  wakes: false,
};
const aVolume: WakeRow = { name: 'a volume', step: (w) => w.disk('d', '5Gi', 'n1'), wakes: false };
const aClaim: WakeRow = { name: 'a claim', step: (w) => w.claim('c', '5Gi'), wakes: false };
const aService: WakeRow = {
  name: 'a service',
  step: (w) =>
    w.cluster.resource(services).create({
      metadata: { namespace, name: 's' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    }),
  wakes: false,
};
const otherPodsStatus: WakeRow = {
  name: "another pod's status",
  step: (w) => patchPod(w, 'other', { status: { message: 'all is well' } }, 'status'),
  wakes: false,
};
const ownStatus: WakeRow = {
  name: 'its own status',
  step: (w) => patchPod(w, 'web', { status: { message: 'waiting' } }, 'status'),
  wakes: false,
};
const unrelated = [heartbeat, aVolume, aClaim, aService, otherPodsStatus, ownStatus];

describe('a pod without cpu', () => {
  expectWakes({
    refused: '1 Insufficient cpu',
    seed: async (fixture) => {
      await theirs('large', cpu('6'))(fixture);
      await theirs('other')(fixture);
      await fixture.pod('web', [], { spec: cpu('4') });
    },
    rows: [
      ...unrelated,
      { name: 'a pod that is deleted', step: gone('large'), wakes: 'placed' },
      {
        name: 'a pod that has finished',
        step: (w) => patchPod(w, 'large', { status: { phase: 'Succeeded' } }, 'status'),
        wakes: 'placed',
      },
      {
        name: 'a larger node',
        step: (w) => patchNode(w, { status: { allocatable: { cpu: '16' } } }, 'status'),
        wakes: 'placed',
      },
      {
        name: 'a smaller node',
        step: (w) => patchNode(w, { status: { allocatable: { cpu: '7' } } }, 'status'),
        wakes: false,
      },
      { name: 'a new node', step: (w) => w.node('n2'), wakes: 'placed' },
      { name: 'a new pod', step: theirs('more'), wakes: false },
      {
        name: 'a label on a node',
        step: (w) => patchNode(w, { metadata: { labels: { a: 'b' } } }),
        wakes: false,
      },
    ],
  });
});

describe('a pod that does not tolerate the node', () => {
  const taints = [{ key: 'only', value: 'others', effect: 'NoSchedule' as const }];
  expectWakes({
    refused: '1 node(s) had untolerated taint(s)',
    seed: async (fixture) => {
      await patchNode(fixture, { spec: { taints } });
      await theirs('other')(fixture);
      await fixture.pod('web');
    },
    rows: [
      ...unrelated,
      {
        name: 'removing the taint',
        step: (w) => patchNode(w, { spec: { taints: null } }),
        wakes: 'placed',
      },
      {
        name: 'its own toleration',
        step: (w) => patchPod(w, 'web', { spec: { tolerations: [{ key: 'only', operator: 'Exists' }] } }),
        wakes: 'placed',
      },
      {
        name: 'its own annotation',
        step: (w) => patchPod(w, 'web', { metadata: { annotations: { a: 'b' } } }),
        wakes: false,
      },
      { name: 'a pod that is deleted', step: gone('other'), wakes: false },
    ],
  });
});

describe('a pod with a node selector for other labels', () => {
  expectWakes({
    refused: "1 node(s) didn't match Pod's node affinity/selector",
    seed: async (fixture) => {
      await theirs('other')(fixture);
      await fixture.pod('web', [], { spec: { nodeSelector: { [labels.zone]: 'b' } } });
    },
    rows: [
      ...unrelated,
      {
        name: 'the label',
        step: (w) => patchNode(w, { metadata: { labels: { [labels.zone]: 'b' } } }),
        wakes: 'placed',
      },
      {
        name: 'a node with the label',
        step: (w) => w.node('n2', { labels: { [labels.zone]: 'b' } }),
        wakes: 'placed',
      },
      { name: 'a node without the label', step: (w) => w.node('n2'), wakes: false },
      { name: 'a pod that is deleted', step: gone('other'), wakes: false },
    ],
  });
});

describe('a pod on a cordoned node', () => {
  expectWakes({
    refused: '1 node(s) were unschedulable',
    seed: async (fixture) => {
      await patchNode(fixture, { spec: { unschedulable: true } });
      await theirs('other')(fixture);
      await fixture.pod('web');
    },
    rows: [
      ...unrelated,
      {
        name: 'the uncordoned node',
        step: (w) => patchNode(w, { spec: { unschedulable: null } }),
        wakes: 'placed',
      },
    ],
  });
});

describe('a pod with anti-affinity', () => {
  expectWakes({
    refused: "1 node(s) didn't match pod anti-affinity rules",
    seed: async (fixture) => {
      await theirs('rival', {}, 'web')(fixture);
      await theirs('other')(fixture);
      await fixture.pod('web', [], { spec: onSeparateNodes });
    },
    rows: [
      ...unrelated,
      { name: 'deleting its rival', step: gone('rival'), wakes: 'placed' },
      {
        name: 'its rival, under another label',
        step: (w) => patchPod(w, 'rival', { metadata: { labels: { app: 'changed' } } }),
        wakes: 'placed',
      },
      { name: 'deleting another pod', step: gone('other'), wakes: false },
      { name: 'a new node', step: (w) => w.node('n2'), wakes: 'placed' },
    ],
  });
});

describe('a pod with affinity', () => {
  expectWakes({
    refused: "1 node(s) didn't match pod affinity rules",
    seed: async (fixture) => {
      await theirs('other')(fixture);
      await fixture.pod('web', [], { spec: onOneNode });
    },
    rows: [
      ...unrelated,
      { name: 'its friend', step: theirs('friend', {}, 'web'), wakes: 'placed' },
      { name: 'a pod with other labels', step: theirs('unrelated', {}, 'other'), wakes: false },
      {
        name: 'a pod that becomes its friend',
        step: (w) => patchPod(w, 'other', { metadata: { labels: { app: 'web' } } }),
        wakes: 'placed',
      },
    ],
  });
});

describe('a pod whose host port is used', () => {
  const port = (hostPort: number): PodSpec => ({
    containers: [{ name: 'main', image: 'pause', ports: [{ containerPort: 80, hostPort }] }],
  });
  expectWakes({
    refused: "1 node(s) didn't have free ports for the requested pod ports",
    seed: async (fixture) => {
      await theirs('holder', port(8080))(fixture);
      await theirs('other', port(9090))(fixture);
      await fixture.pod('web', [], { spec: port(8080) });
    },
    rows: [
      ...unrelated,
      { name: 'deleting the pod that has the port', step: gone('holder'), wakes: 'placed' },
      { name: 'deleting a pod with another port', step: gone('other'), wakes: false },
    ],
  });
});

describe('a pod whose claim is ReadWriteOncePod', () => {
  expectWakes({
    refused: 'ReadWriteOncePod access mode already in-use by another pod',
    seed: async (fixture) => {
      await fixture.disk('d1', '5Gi', 'n1', { accessModes: ['ReadWriteOncePod'] });
      await fixture.claim('data', '5Gi', { accessModes: ['ReadWriteOncePod'] });
      await theirs('other')(fixture);
      await fixture.pod('user', ['data']);
      await fixture.settle();
      await fixture.pod('web', ['data']);
    },
    rows: [
      ...unrelated,
      { name: 'deleting the other user', step: gone('user'), wakes: 'placed' },
      { name: 'deleting another pod', step: gone('other'), wakes: false },
    ],
  });
});

describe('a pod with a topology spread constraint', () => {
  const spread: PodSpec = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: labels.hostname,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'web' } },
      },
    ],
  };
  expectWakes({
    refused: "1 node(s) didn't match pod topology spread constraints",
    options: { nodes: ['n1', 'n2'] },
    seed: async (fixture) => {
      await theirs('first', {}, 'web')(fixture);
      await theirs('other')(fixture);
      await fixture.cluster.resource(nodes).patch({ name: 'n2' }, merge({ spec: { unschedulable: true } }));
      const metadata = { namespace, name: 'web', labels: { app: 'web' } };
      await fixture.pod('web', [], { metadata, spec: spread });
    },
    rows: [
      ...unrelated,
      { name: 'deleting a pod that the constraint matches', step: gone('first'), wakes: 'placed' },
      { name: 'deleting another pod', step: gone('other'), wakes: false },
    ],
  });
});

describe('a pod with affinity by namespace labels', () => {
  const term = {
    topologyKey: labels.hostname,
    labelSelector: { matchLabels: { app: 'web' } },
    namespaceSelector: { matchLabels: { team: 'a' } },
  };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  expectWakes({
    refused: "1 node(s) didn't match pod affinity rules",
    seed: async (fixture) => {
      await fixture.cluster.resource(namespaces).create({ metadata: { name: 'far' } });
      await theirs('other')(fixture);
      const containers = [{ name: 'main', image: 'pause' }];
      const metadata = { namespace: 'far', name: 'friend', labels: { app: 'web' } };
      await fixture.cluster.resource(pods).create({ metadata, spec: { nodeName: 'n1', containers } });
      await fixture.pod('web', [], { spec: { affinity } });
    },
    rows: [
      {
        name: 'the label on the namespace of its friend',
        step: (w) =>
          w.cluster
            .resource(namespaces)
            .patch({ name: 'far' }, merge({ metadata: { labels: { team: 'a' } } })),
        wakes: 'placed',
      },
      {
        name: 'a claim that is deleted',
        step: async (w) => {
          await w.claim('c', '1Gi');
          await w.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'c' });
        },
        wakes: false,
      },
    ],
  });
});
