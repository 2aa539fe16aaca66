import { describe, expect, test } from 'vitest';
import type { Binding, Pod } from '../../../kube/api/core-v1.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkBinding } from './binding.ts';
import { namespaceKind } from './namespace.ts';
import { nodeKind } from './node.ts';
import { podKind } from './pod.ts';

function podOf(spec: object, status: object = {}): Pod {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec, status };
  return normalize(podKind.type, pod).object as unknown as Pod;
}

describe('the grace of a deletion', () => {
  test.each([
    { name: 'is the spec’s', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, seconds: 30 },
    { name: 'is 0 where the spec has none', spec: { nodeName: 'n' }, seconds: 0 },
    { name: 'is 0 before the pod has a node', spec: { terminationGracePeriodSeconds: 30 }, seconds: 0 },
    {
      name: 'is 0 before the pod has a node, whatever is requested',
      spec: {},
      requested: 9,
      seconds: 0,
    },
    {
      name: 'is what is requested',
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 },
      requested: 5,
      seconds: 5,
    },
    { name: 'is never below zero', spec: { nodeName: 'n' }, requested: -7, seconds: 1 },
    {
      name: 'is 0 for a pod that has failed',
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 },
      status: { phase: 'Failed' },
      seconds: 0,
    },
    {
      name: 'is 0 for a pod that has succeeded',
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 },
      status: { phase: 'Succeeded' },
      requested: 10,
      seconds: 0,
    },
  ])('$name', ({ spec, status, requested, seconds }) => {
    expect(podKind.graceSeconds?.(podOf(spec, status), requested)).toBe(seconds);
  });
});

test('pods are selected by fields that are there, and by those that are not', () => {
  const pod = podOf(
    { nodeName: 'n1', hostNetwork: true },
    { podIPs: [{ ip: '10.0.0.1' }], podIP: '10.0.0.1' },
  );
  const fields = Object.entries(podKind.selectableFields ?? {}).map(([name, read]) => [name, read(pod)]);
  expect(Object.fromEntries(fields)).toEqual({
    'spec.nodeName': 'n1',
    'spec.host': 'n1',
    'spec.restartPolicy': '',
    'spec.schedulerName': '',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'true',
    'status.phase': '',
    'status.podIP': '10.0.0.1',
    'status.podIPs': '',
    'status.nominatedNodeName': '',
  });
});

test('a node that says nothing is schedulable', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {}, status: {} };
  const read = nodeKind.selectableFields?.['spec.unschedulable'];
  expect(read?.(node as never)).toBe('false');
});

describe('a namespace', () => {
  const namespaceOf = (finalizers: string[]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a' },
    spec: { finalizers },
    status: { phase: 'Active' },
  });

  test('is marked when its deletion begins', () => {
    const namespace = namespaceOf(['kubernetes']);
    namespaceKind.beginDeletion?.(namespace);
    expect(namespace.status.phase).toBe('Terminating');
  });

  test('stays until nobody holds it any more', () => {
    expect(namespaceKind.outlivesFinalizers?.(namespaceOf(['kubernetes']))).toBe(true);
    expect(namespaceKind.outlivesFinalizers?.(namespaceOf([]))).toBe(false);
  });

  test('gets its label also where its name was generated', () => {
    const namespace = normalize(namespaceKind.type, { metadata: { name: 'a-x7f2k' } }).object;
    namespaceKind.prepareCreate?.(namespace as never, { nowMs: 0 });
    expect(namespace.metadata).toEqual({
      name: 'a-x7f2k',
      labels: { 'kubernetes.io/metadata.name': 'a-x7f2k' },
    });
  });
});

test.each([
  { target: { kind: 'Node', name: 'n1' }, causes: [] },
  { target: { name: 'n1' }, causes: [] },
  {
    target: { kind: 'Pod' },
    causes: [
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      'target.name: Required value',
    ],
  },
])('a binding to $target is judged', ({ target, causes }) => {
  const errors = new FieldErrors();
  const binding: Binding = { apiVersion: 'v1', kind: 'Binding', metadata: {}, target };
  checkBinding(binding, errors);
  expect(errors.causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});
