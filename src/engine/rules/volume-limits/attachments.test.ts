import { expect, test } from 'vitest';
import type { PersistentVolume, Pod } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { verdictOf } from '../../testing/expect-plan.ts';
import { boundDiskClaim, disk, ebs, newPod, overLimit, podOnNode1 } from '../../testing/limit-cases.ts';
import { attachment, byName, csiNode, node, volume } from '../../testing/objects.ts';

/** Whether a pod with claim `a` fits on a node with this limit for the driver `ebs` and these attachments. */
interface AttachmentCase {
  readonly name: string;
  readonly limit: number;
  readonly attachments: readonly VolumeAttachment[];
  readonly disk?: PersistentVolume;
  readonly pods?: readonly Pod[];
  readonly stowage: boolean;
  readonly upstream: boolean;
}

const inTree = volume('pv-a', '1Gi', {
  phase: 'Bound',
  spec: { awsElasticBlockStore: { volumeID: 'vol-a' } },
});
const ofInline: VolumeAttachment = {
  metadata: { name: 'x' },
  spec: {
    nodeName: 'n1',
    attacher: ebs,
    source: { inlineVolumeSpec: { csi: { driver: ebs, volumeHandle: 'vol-inline' } } },
  },
};

const cases: readonly AttachmentCase[] = [
  {
    name: 'an attached volume that no pod uses keeps its slot',
    limit: 1,
    attachments: [attachment('x', 'n1', ebs, 'pv-a')],
    stowage: true,
    upstream: false,
  },
  {
    name: 'which does not matter with a free slot',
    limit: 2,
    attachments: [attachment('x', 'n1', ebs, 'pv-a')],
    stowage: true,
    upstream: true,
  },
  {
    name: 'or if a pod uses it',
    limit: 1,
    attachments: [attachment('x', 'n1', ebs, 'pv-a')],
    pods: [podOnNode1('old', 'a')],
    stowage: true,
    upstream: true,
  },
  {
    name: 'a volume counts for its own driver, whichever driver attached it',
    limit: 1,
    attachments: [attachment('x', 'n1', 'other.csi', 'pv-b')],
    stowage: false,
    upstream: true,
  },
  {
    name: 'and for no other driver',
    limit: 1,
    attachments: [attachment('x', 'n1', ebs, 'pv-other')],
    stowage: true,
    upstream: false,
  },
  {
    name: 'an in-tree disk counts',
    limit: 1,
    attachments: [attachment('x', 'n1', ebs, 'pv-in-tree')],
    stowage: false,
    upstream: true,
  },
  {
    name: 'and may be attached already, too',
    limit: 1,
    disk: inTree,
    attachments: [attachment('x', 'n1', ebs, 'pv-a')],
    stowage: true,
    upstream: true,
  },
  {
    name: 'a volume that was named inline counts',
    limit: 1,
    attachments: [ofInline],
    stowage: false,
    upstream: true,
  },
];

test.each(byName(cases))('%s', (_, entry) => {
  const objects = {
    Node: [node('n1')],
    CSINode: [csiNode('n1', { [ebs]: entry.limit })],
    PersistentVolume: [
      entry.disk ?? disk('a'),
      disk('b'),
      disk('other', 'other.csi'),
      volume('pv-in-tree', '1Gi', { spec: { awsElasticBlockStore: { volumeID: 'vol-in-tree' } } }),
    ],
    PersistentVolumeClaim: [boundDiskClaim('a')],
    VolumeAttachment: entry.attachments,
    Pod: entry.pods ?? [],
  };
  const asked = [stowageProfile, upstreamProfile].map((profile) =>
    verdictOf(clusterOf(objects, profile), newPod('a')),
  );
  expect(asked).toEqual([entry.stowage, entry.upstream].map((fits) => (fits ? 'fits' : overLimit)));
});
