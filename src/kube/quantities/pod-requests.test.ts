import { describe, expect, test } from 'vitest';
import type { ResourceList } from '../api/core.ts';
import {
  type GrantedRequests,
  podLoadForScore,
  podRequests,
  podRequestsForScore,
  type RequestingContainer,
  type RequestingSpec,
} from './pod-requests.ts';
import { allocatableAmounts } from './resource-amounts.ts';

const mib = 2 ** 20;

function container(requests: ResourceList, name = 'main'): RequestingContainer {
  return { name, resources: { requests } };
}

function sidecar(requests: ResourceList, name = 'side'): RequestingContainer {
  return { ...container(requests, name), restartPolicy: 'Always' };
}

function granted(rest: Partial<GrantedRequests>): GrantedRequests {
  return { containers: [], initContainers: [], isInfeasible: false, ...rest };
}

describe('a pod needs', () => {
  test.each<[string, RequestingSpec, number]>([
    ['nothing where nothing is asked for', { containers: [container({})] }, 0],
    [
      'the sum of its containers',
      { containers: [container({ cpu: '1' }), container({ cpu: '250m' })] },
      1250,
    ],
    [
      'the largest init container where that is more',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '2' }), container({ cpu: '3' })],
      },
      3000,
    ],
    [
      'its sidecars beside its containers',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar({ cpu: '500m' })] },
      1500,
    ],
    [
      'an init container together with the sidecars before it, not those after it',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [sidecar({ cpu: '1' }), container({ cpu: '4' }), sidecar({ cpu: '2' })],
      },
      5000,
    ],
    [
      'what it asks for as a whole, whatever its containers say',
      { containers: [container({ cpu: '1' })], resources: { requests: { cpu: '300m' } } },
      300,
    ],
    [
      'the sum of its containers where only limits are set for the whole',
      { containers: [container({ cpu: '1' })], resources: { limits: { cpu: '4' } } },
      1000,
    ],
    [
      'its overhead on top',
      {
        containers: [container({ cpu: '1' })],
        resources: { requests: { cpu: '2' } },
        overhead: { cpu: '5m' },
      },
      2005,
    ],
    [
      'fractions added up before they are rounded',
      { containers: [0, 1].map(() => container({ cpu: '0.5m' })) },
      1,
    ],
    ['a fraction rounded up', { containers: [container({ cpu: '0.1m' })] }, 1],
  ])('%s', (_name, spec, cpuMilli) => {
    expect(podRequests(spec).cpuMilli).toBe(cpuMilli);
  });

  test('resources by name as far as a scheduler counts them, and none of zero', () => {
    const requests = {
      'example.com/gpu': '2',
      'example.com/none': '0',
      'hugepages-2Mi': '4Mi',
      'attachable-volumes-x': '1',
      'kubernetes.io/odd': '3',
      'requests.example.com/quota': '1',
      unprefixed: '1',
      storage: '1Gi',
    };
    expect(Object.fromEntries(podRequests({ containers: [container(requests)] }).others)).toEqual({
      'example.com/gpu': 2,
      'hugepages-2Mi': 4 * mib,
      'attachable-volumes-x': 1,
      'kubernetes.io/odd': 3,
    });
  });

  test('as a whole only cpu, memory and hugepages', () => {
    const spec = {
      containers: [],
      resources: { requests: { 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Mi' } },
    };
    expect(podRequests(spec)).toMatchObject({
      ephemeralStorageBytes: 0,
      others: new Map([['hugepages-2Mi', 2 * mib]]),
    });
  });
});

describe('while it is being resized, a pod takes', () => {
  const spec = { containers: [container({ cpu: '1' })] };
  const grant = { name: 'main', resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '3' } };
  test.each<[string, RequestingSpec, GrantedRequests, number]>([
    ['what is set aside, where that is most', spec, granted({ containers: [grant] }), 3000],
    [
      'what it asks for, where that is most',
      { containers: [container({ cpu: '9' })] },
      granted({ containers: [grant] }),
      9000,
    ],
    [
      'not what it asks for, where that can never be had',
      { containers: [container({ cpu: '9' })] },
      granted({ containers: [grant], isInfeasible: true }),
      3000,
    ],
    [
      'what it asks for before the node has said what is in force',
      spec,
      granted({ containers: [{ name: 'main', allocatedResources: { cpu: '3' } }] }),
      1000,
    ],
    [
      'what it asks for where the grant is of another container',
      spec,
      granted({ containers: [{ ...grant, name: 'x' }] }),
      1000,
    ],
    [
      'the resources granted to a sidecar',
      { initContainers: [sidecar({ cpu: '1' })] },
      granted({ initContainers: [{ ...grant, name: 'side' }] }),
      3000,
    ],
    [
      'what an init container asks for, which runs once',
      { initContainers: [container({ cpu: '1' })] },
      granted({ initContainers: [grant] }),
      1000,
    ],
    [
      'what the pod as a whole has been granted',
      { ...spec, resources: { requests: { cpu: '1' } } },
      granted({ resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '1' } }),
      2000,
    ],
  ])('%s', (_name, asked, grants, cpuMilli) => {
    expect(podRequests(asked, grants).cpuMilli).toBe(cpuMilli);
  });
});

describe('for ranking nodes', () => {
  const silent = { containers: [container({}), container({ memory: '0' })] };

  test('a container that says nothing counts for 100m and 200Mi, one that says zero for zero', () => {
    const amounts = { cpuMilli: 200, memoryBytes: 200 * mib };
    expect(podRequestsForScore(silent)).toMatchObject(amounts);
    expect(podLoadForScore(silent)).toMatchObject(amounts);
  });

  test('requests of the pod as a whole count once it is on a node, and nothing is assumed beside them', () => {
    const spec = { ...silent, resources: { requests: { cpu: '50m' } } };
    expect(podLoadForScore(spec)).toMatchObject({ cpuMilli: 50, memoryBytes: 0 });
    expect(podRequestsForScore(spec)).toMatchObject({ cpuMilli: 200, memoryBytes: 200 * mib });
  });
});

describe('amounts beyond what a double can hold', () => {
  test('are rounded up for pods and cut off for nodes', () => {
    const memory = '9007199254740993';
    expect(podRequests({ containers: [container({ memory })] }).memoryBytes).toBe(2 ** 53 + 2);
    expect(allocatableAmounts({ memory }).memoryBytes).toBe(2 ** 53 - 1);
  });

  test('stop at 2^63', () => {
    expect(podRequests({ containers: [container({ cpu: '1e40' })] }).cpuMilli).toBe(2 ** 63);
  });
});

test.each<[string, unknown]>([
  ['no containers', {}],
  ['containers that are none', { containers: [null, 3, 'x', { resources: 'x' }], initContainers: { a: 1 } }],
  ['requests that are none', { containers: [{ resources: { requests: 7 } }], overhead: 'x', resources: [] }],
  ['quantities that are none', { containers: [container({ cpu: 'much', memory: { x: 1 } as never })] }],
  ['negative requests', { containers: [container({ cpu: '-1', memory: '-1.5', 'a.com/b': '-2' })] }],
])('%s come to nothing and never throw', (_name, spec) => {
  const hostile = spec as RequestingSpec;
  const nothing = { cpuMilli: 0, memoryBytes: 0, ephemeralStorageBytes: 0, others: new Map() };
  expect(podRequests(hostile, { containers: 1, initContainers: [null] } as never)).toEqual(nothing);
});
