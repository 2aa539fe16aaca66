import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../../kube/api/stored/core.ts';
import { normalize } from '../../../schema/normalize.ts';
import { podKind } from './pod.ts';

function podOf(spec: object, status: object = {}): Pod {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec, status };
  return normalize(podKind.type, pod).object as unknown as Pod;
}

describe('the grace period of a deletion', () => {
  test.each([
    { name: 'comes from the spec', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, seconds: 30 },
    { name: 'is 0 if the spec has none', spec: { nodeName: 'n' }, seconds: 0 },
    { name: 'is 0 before the pod has a node', spec: { terminationGracePeriodSeconds: 30 }, seconds: 0 },
    {
      name: 'is 0 before the pod has a node, even if the request names another',
      spec: {},
      requested: 9,
      seconds: 0,
    },
    {
      name: 'is the requested one',
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 },
      requested: 5,
      seconds: 5,
    },
    { name: 'is at least 1 if the request is negative', spec: { nodeName: 'n' }, requested: -7, seconds: 1 },
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

test('field selectors read set and absent fields', () => {
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

test.each([
  ['Pending', undefined],
  ['Running', undefined],
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
])('the row conditions of a pod that is %s', (phase, message) => {
  const conditions = podKind.rowConditions?.(podOf({}, { phase }));
  expect(conditions).toEqual(
    message === undefined ? undefined : [{ type: 'Completed', status: 'True', reason: phase, message }],
  );
});
