import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/core.ts';
import type { CSINode } from '../../../kube/storage.ts';
import { annotations } from '../../../kube/well-known.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../index/profile.ts';
import { plan } from '../../plan.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  csiNode,
  madeBy,
  node,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';

const ebs = 'ebs.csi.aws.com';
const overLimit = '0/1 nodes are available: 1 node(s) exceed max volume count.';
const migrated = { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/aws-ebs' } };

/** A disk of the driver, bound to the claim of the same name. */
function disk(name: string, driver = ebs): PersistentVolume {
  return volume(`pv-${name}`, '1Gi', {
    phase: 'Bound',
    spec: { csi: { driver, volumeHandle: `vol-${name}` } },
  });
}

function inTree(name: string, handle = `vol-${name}`): PersistentVolume {
  return volume(`pv-${name}`, '1Gi', {
    phase: 'Bound',
    spec: { awsElasticBlockStore: { volumeID: handle } },
  });
}

function claimOf(name: string): PersistentVolumeClaim {
  return boundClaim(name, '1Gi', `pv-${name}`);
}

function running(name: string, ...claims: readonly string[]): Pod {
  return pod(name, claims, { nodeName: 'n1' });
}

/** A pod with these claims or volumes on a node that runs `pods`. */
interface Case {
  readonly name: string;
  readonly csiNode?: CSINode;
  readonly disks?: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly pods?: readonly Pod[];
  readonly more?: ClusterObjects;
  readonly asking: Pod;
  readonly fits: boolean;
}

function expectCases(
  cases: readonly Case[],
  profiles: readonly Profile[] = [stowageProfile, upstreamProfile],
): void {
  test.each(byName(cases))(
    '%s',
    (_, { csiNode: limits, disks = [], claims, pods = [], more, asking, fits }) => {
      for (const profile of profiles) {
        const index = clusterOf(
          {
            Node: [node('n1')],
            StorageClass: [
              storageClass('local'),
              madeBy(ebs, 'ebs'),
              madeBy('kubernetes.io/aws-ebs', 'in-tree'),
            ],
            PersistentVolume: disks,
            PersistentVolumeClaim: claims,
            CSINode: limits === undefined ? [] : [limits],
            Pod: pods,
            ...more,
          },
          profile,
        );
        const answer = plan(asking, index, { nowMs: 0 });
        expect(answer.kind === 'placement' ? 'fits' : answer.message).toBe(fits ? 'fits' : overLimit);
      }
    },
  );
}

const two = ['a', 'b'];
const newPod = (...claims: readonly string[]) => pod('new', claims);

describe('disks that were once part of Kubernetes', () => {
  const inline = (name: string, handle: string, nodeName?: string): Pod =>
    pod(name, [], {
      ...(nodeName !== undefined && { nodeName }),
      volumes: [{ name: 'disk', awsElasticBlockStore: { volumeID: handle } }],
    });
  const served = csiNode('n1', { [ebs]: 1 }, migrated);
  const unserved = csiNode('n1', { [ebs]: 1 });
  expectCases([
    {
      name: 'count for the driver that serves them',
      csiNode: served,
      disks: two.map((name) => inTree(name)),
      claims: two.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b'),
      fits: false,
    },
    {
      name: 'count for nobody where the node does not serve them through CSI',
      csiNode: unserved,
      disks: two.map((name) => inTree(name)),
      claims: two.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'that are still to be made count for the driver that serves them',
      csiNode: served,
      disks: [inTree('b')],
      claims: [claim('a', '1Gi', { className: 'in-tree' }), claimOf('b')],
      pods: [running('old', 'b')],
      asking: newPod('a'),
      fits: false,
    },
    {
      name: 'count also where a pod names them inline',
      csiNode: served,
      claims: [],
      pods: [inline('old', 'vol-1', 'n1')],
      asking: inline('new', 'vol-2'),
      fits: false,
    },
    {
      name: 'count together with CSI ones: an in-tree one is scheduled',
      csiNode: served,
      disks: [disk('a'), inTree('b')],
      claims: two.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b'),
      fits: false,
    },
    {
      name: 'count together with CSI ones: a CSI one is scheduled',
      csiNode: served,
      disks: [disk('a'), inTree('b')],
      claims: two.map(claimOf),
      pods: [running('old', 'b')],
      asking: newPod('a'),
      fits: false,
    },
    {
      name: 'count once with their CSI form: the handle is the same',
      csiNode: served,
      disks: [inTree('a', 'vol-1')],
      claims: [claimOf('a')],
      pods: [running('old', 'a')],
      asking: inline('new', 'vol-1'),
      fits: true,
    },
    {
      name: 'of other kinds count for nobody',
      csiNode: served,
      disks: [inTree('a'), volume('pv-b', '1Gi', { phase: 'Bound', spec: { nfs: { server: 's' } } })],
      claims: two.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b'),
      fits: true,
    },
  ]);
});
