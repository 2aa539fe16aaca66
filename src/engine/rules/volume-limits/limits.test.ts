import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/core.ts';
import type { CSINode } from '../../../kube/storage.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../index/profile.ts';
import { plan } from '../../plan.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import {
  attachment,
  boundClaim,
  byName,
  claim,
  csiNode,
  ephemeralVolume,
  madeBy,
  node,
  ownedBy,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';

const ebs = 'ebs.csi.aws.com';
const overLimit = '0/1 nodes are available: 1 node(s) exceed max volume count.';

/** A disk of the driver, bound to the claim of the same name. */
function disk(name: string, driver = ebs): PersistentVolume {
  return volume(`pv-${name}`, '1Gi', {
    phase: 'Bound',
    spec: { csi: { driver, volumeHandle: `vol-${name}` } },
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
const three = ['a', 'b', 'c'];
const newPod = (...claims: readonly string[]) => pod('new', claims);

describe('a node takes', () => {
  expectCases([
    {
      name: 'volumes up to its limit',
      csiNode: csiNode('n1', { [ebs]: 3 }),
      disks: three.map((name) => disk(name)),
      claims: three.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b', 'c'),
      fits: true,
    },
    {
      name: 'none beyond its limit',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: three.map((name) => disk(name)),
      claims: three.map(claimOf),
      pods: [running('old', 'a')],
      asking: newPod('b', 'c'),
      fits: false,
    },
    {
      name: 'none at all with a limit of zero',
      csiNode: csiNode('n1', { [ebs]: 0 }),
      disks: [disk('a')],
      claims: [claimOf('a')],
      asking: newPod('a'),
      fits: false,
    },
    {
      name: 'any number without a CSINode',
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      asking: newPod(...two),
      fits: true,
    },
    {
      name: 'any number of a driver that sets no limit',
      csiNode: csiNode('n1', { [ebs]: undefined, 'other.csi': 0 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      asking: newPod(...two),
      fits: true,
    },
    {
      name: 'any number of a driver that its CSINode does not know',
      csiNode: csiNode('n1', { 'other.csi': 0 }),
      disks: [disk('a')],
      claims: [claimOf('a')],
      asking: newPod('a'),
      fits: true,
    },
    {
      name: 'volumes of two drivers, each by its own limit',
      csiNode: csiNode('n1', { [ebs]: 1, 'other.csi': 1 }),
      disks: [disk('a'), disk('b', 'other.csi')],
      claims: two.map(claimOf),
      asking: newPod(...two),
      fits: true,
    },
    {
      name: 'a volume that is attached already, however full it is',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('a')],
      claims: [claimOf('a')],
      pods: [running('old', 'a')],
      asking: newPod('a'),
      fits: true,
    },
    {
      name: 'a pod without volumes, however full it is',
      csiNode: csiNode('n1', { [ebs]: 0 }),
      claims: [],
      asking: pod('new', [], {
        volumes: [
          { name: 'config', configMap: { name: 'x' } },
          { name: 's', secret: {} },
        ],
      }),
      fits: true,
    },
  ]);
});

describe('counted are', () => {
  expectCases([
    {
      name: 'VolumeAttachments, also without a pod',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: three.map((name) => disk(name)),
      claims: three.map(claimOf),
      more: { VolumeAttachment: [attachment('x', 'n1', ebs, 'pv-a'), attachment('y', 'n1', ebs, 'pv-b')] },
      asking: newPod('c'),
      fits: false,
    },
    {
      name: 'VolumeAttachments that leave a slot',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      more: { VolumeAttachment: [attachment('x', 'n1', ebs, 'pv-a')] },
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'a volume once, that has both a pod and an attachment',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      pods: [running('old', 'a')],
      more: { VolumeAttachment: [attachment('x', 'n1', ebs, 'pv-a')] },
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'no VolumeAttachments of other nodes',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      more: { VolumeAttachment: [attachment('x', 'n2', ebs, 'pv-a')] },
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'no volumes of pods that have finished',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      pods: [{ ...running('old', 'a'), status: { phase: 'Succeeded' } }],
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'a handle once, however many claims of running pods lead to it',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: two.map((name) => disk(name)),
      claims: two.map(claimOf),
      pods: [running('old', 'a'), running('older', 'a')],
      asking: newPod('b'),
      fits: true,
    },
    {
      name: 'claims of running pods that wait for a volume, under the provisioner of their class',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: [disk('c')],
      claims: [...two.map((name) => claim(name, '1Gi', { className: 'ebs' })), claimOf('c')],
      pods: [running('old', 'a'), running('older', 'b')],
      asking: newPod('c'),
      fits: false,
    },
    {
      name: 'a waiting claim once, that two pods share',
      csiNode: csiNode('n1', { [ebs]: 2 }),
      disks: [disk('c')],
      claims: [claim('a', '1Gi', { className: 'ebs' }), claimOf('c')],
      pods: [running('old', 'a'), running('older', 'a')],
      asking: newPod('c'),
      fits: true,
    },
    {
      name: 'claims whose volume is gone, under the provisioner of their class',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [boundClaim('a', '1Gi', 'gone', { className: 'ebs' }), claimOf('c')],
      pods: [running('old', 'a')],
      asking: newPod('c'),
      fits: false,
    },
    {
      name: 'no claims whose class is gone, too',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [boundClaim('a', '1Gi', 'gone', { className: 'gone' }), claimOf('c')],
      pods: [running('old', 'a')],
      asking: newPod('c'),
      fits: true,
    },
    {
      name: 'no claims of running pods that are not there',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [claimOf('c')],
      pods: [running('old', 'missing')],
      asking: newPod('c'),
      fits: true,
    },
    {
      name: 'volumes of ephemeral claims',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [claim('old-s', '1Gi', { className: 'ebs', metadata: ownedBy('old', 'old-s')! }), claimOf('c')],
      pods: [pod('old', [], { nodeName: 'n1', volumes: [ephemeralVolume('s')] })],
      asking: newPod('c'),
      fits: false,
    },
    {
      name: 'the ephemeral claim of the new pod',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [claim('new-s', '1Gi', { className: 'ebs', metadata: ownedBy('new', 'new-s')! }), claimOf('c')],
      pods: [running('old', 'c')],
      asking: pod('new', [], { volumes: [ephemeralVolume('s')] }),
      fits: false,
    },
    {
      name: 'the unbound claim of the new pod',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [claim('a', '1Gi', { className: 'ebs' }), claimOf('c')],
      pods: [running('old', 'c')],
      asking: newPod('a'),
      fits: false,
    },
    {
      name: 'bound and unbound claims of the new pod together',
      csiNode: csiNode('n1', { [ebs]: 1 }),
      disks: [disk('c')],
      claims: [claim('a', '1Gi', { className: 'ebs' }), claimOf('c')],
      asking: newPod('a', 'c'),
      fits: false,
    },
  ]);
});
