import fc from 'fast-check';
import type { PersistentVolumeClaim, Pod, Volume } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { sometimes } from './chance.ts';
import { arbClaim } from './claims.ts';
import { type Distribution, mixed } from './distribution.ts';
import { claimNames, drivers, nodeNames, otherClaimNames, volumeNames } from './names.ts';

export function arbAttachment(name: string): fc.Arbitrary<VolumeAttachment> {
  return fc
    .record({
      nodeName: fc.constantFrom(...nodeNames),
      attacher: fc.constantFrom(...drivers),
      persistentVolumeName: fc.constantFrom(...volumeNames),
    })
    .map(({ nodeName, attacher, persistentVolumeName }) => ({
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
      spec: { attacher, nodeName, source: { persistentVolumeName } },
    }));
}

function claimVolumes(names: readonly string[]): Volume[] {
  return names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
}

const inlineVolumes: fc.Arbitrary<Volume[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Volume[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...drivers),
        fc.oneof(
          { weight: 12, arbitrary: mixed.sizes },
          { weight: 1, arbitrary: fc.constantFrom('x', '-1') },
        ),
      )
      .map(([driver, fsSize]) => [{ name: 'scratch', csi: { driver, fsSize } }]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('vol-1', 'vol-3')
      .map((volumeID) => [{ name: 'disk', awsElasticBlockStore: { volumeID } }]),
  },
);

/** A running or finished pod. */
export function arbOtherPod(name: string): fc.Arbitrary<Pod> {
  return fc
    .record({
      nodeName: sometimes(90, fc.constantFrom(...nodeNames)),
      claims: fc.uniqueArray(fc.constantFrom(...otherClaimNames, ...claimNames), { maxLength: 2 }),
      disks: inlineVolumes,
      phase: fc.constantFrom('Running' as const, 'Running' as const, 'Succeeded' as const),
    })
    .map(({ nodeName, claims, disks, phase }) => ({
      metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1' },
      spec: { volumes: [...claimVolumes(claims), ...disks], ...(nodeName !== undefined && { nodeName }) },
      status: { phase },
    }));
}

/** The pod to place: in namespace `default`, called `pod`; its claims in any order. */
export const arbPod: fc.Arbitrary<Pod> = fc
  .record({
    claims: fc.oneof(
      { weight: 20, arbitrary: fc.shuffledSubarray(claimNames, { minLength: 1 }) },
      { weight: 1, arbitrary: fc.constant([...claimNames, 'nowhere']) },
    ),
    hasEphemeral: sometimes(10, fc.constant(true)),
    inline: inlineVolumes,
  })
  .map(({ claims, hasEphemeral, inline }) => ({
    metadata: { namespace: 'default', name: 'pod', uid: 'uid-pod', resourceVersion: '1' },
    spec: {
      volumes: [
        ...claimVolumes(claims),
        ...(hasEphemeral ? [{ name: 'cache', ephemeral: { volumeClaimTemplate: {} } }] : []),
        ...inline,
      ],
    },
  }));

/** The claim that the ephemeral volume controller creates for the pod; sometimes one with another owner. */
export function arbEphemeralClaim(distribution: Distribution): fc.Arbitrary<PersistentVolumeClaim> {
  return fc
    .tuple(arbClaim('pod-cache', distribution), fc.constantFrom('uid-pod', 'uid-pod', 'uid-pod', 'uid-other'))
    .map(([claim, uid]) => ({
      ...claim,
      metadata: {
        ...claim.metadata,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'pod', uid, controller: true }],
      },
    }));
}
