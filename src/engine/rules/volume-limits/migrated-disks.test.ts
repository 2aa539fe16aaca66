import { describe } from 'vitest';
import type { PersistentVolume, Pod } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import {
  boundDiskClaim,
  disk,
  ebs,
  expectLimitCases,
  newPod,
  podOnNode1,
} from '../../testing/limit-cases.ts';
import { claim, csiNode, pod, volume } from '../../testing/objects.ts';

const migrated = { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/aws-ebs' } };

function inTree(name: string, handle = `vol-${name}`): PersistentVolume {
  return volume(`pv-${name}`, '1Gi', {
    phase: 'Bound',
    spec: { awsElasticBlockStore: { volumeID: handle } },
  });
}

const two = ['a', 'b'];

describe('in-tree disks', () => {
  const inline = (name: string, handle: string, nodeName?: string): Pod =>
    pod(name, [], {
      ...(nodeName !== undefined && { nodeName }),
      volumes: [{ name: 'disk', awsElasticBlockStore: { volumeID: handle } }],
    });
  const served = csiNode('n1', { [ebs]: 1 }, migrated);
  const unannounced = csiNode('n1', { [ebs]: 1 });
  expectLimitCases([
    {
      name: 'count for the driver that serves them',
      csiNode: served,
      disks: two.map((name) => inTree(name)),
      claims: two.map(boundDiskClaim),
      pods: [podOnNode1('old', 'a')],
      pod: newPod('b'),
      fits: false,
    },
    {
      name: 'count for the driver even if the node does not list the plugin',
      csiNode: unannounced,
      disks: two.map((name) => inTree(name)),
      claims: two.map(boundDiskClaim),
      pods: [podOnNode1('old', 'a')],
      pod: newPod('b'),
      fits: false,
    },
    {
      name: 'that are still to be provisioned count for the driver that serves them',
      csiNode: served,
      disks: [inTree('b')],
      claims: [claim('a', '1Gi', { className: 'in-tree' }), boundDiskClaim('b')],
      pods: [podOnNode1('old', 'b')],
      pod: newPod('a'),
      fits: false,
    },
    {
      name: 'count also if a pod names them inline',
      csiNode: served,
      claims: [],
      pods: [inline('old', 'vol-1', 'n1')],
      pod: inline('new', 'vol-2'),
      fits: false,
    },
    {
      name: 'count together with CSI ones: an in-tree one is scheduled',
      csiNode: served,
      disks: [disk('a'), inTree('b')],
      claims: two.map(boundDiskClaim),
      pods: [podOnNode1('old', 'a')],
      pod: newPod('b'),
      fits: false,
    },
    {
      name: 'count together with CSI ones: a CSI one is scheduled',
      csiNode: served,
      disks: [disk('a'), inTree('b')],
      claims: two.map(boundDiskClaim),
      pods: [podOnNode1('old', 'b')],
      pod: newPod('a'),
      fits: false,
    },
    {
      name: 'count once with their CSI form: the handle is the same',
      csiNode: served,
      disks: [inTree('a', 'vol-1')],
      claims: [boundDiskClaim('a')],
      pods: [podOnNode1('old', 'a')],
      pod: inline('new', 'vol-1'),
      fits: true,
    },
    {
      name: 'of other kinds do not count',
      csiNode: served,
      disks: [inTree('a'), volume('pv-b', '1Gi', { phase: 'Bound', spec: { nfs: { server: 's' } } })],
      claims: two.map(boundDiskClaim),
      pods: [podOnNode1('old', 'a')],
      pod: newPod('b'),
      fits: true,
    },
  ]);
});
