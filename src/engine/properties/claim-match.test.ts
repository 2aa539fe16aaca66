import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { matchClaim } from '../claim-match.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import { OracleCluster, objectKey, objectName } from '../testing/oracle/cluster.ts';
import {
  compareVolumeObjects,
  freeVolumesFor,
  hasAccessModes,
  preboundVolumes,
} from '../testing/oracle/volumes.ts';
import { randomNowMs } from '../testing/random/cluster.ts';
import { arbEvent, ModelServer } from '../testing/random/events.ts';

const runs = 300;
const eventsMax = 60;

test('at any time a claim gets the volume that a scan of all volumes would find', () => {
  fc.assert(
    fc.property(
      fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }),
      fc.array(fc.nat(eventsMax), { maxLength: 8 }),
      (events, checkpoints) => {
        const server = new ModelServer();
        const index = new ClusterIndex(stowageProfile);
        for (const [position, event] of events.entries()) {
          server.apply(event, index);
          if (checkpoints.includes(position)) compareAll(index, server);
        }
        compareAll(index, server);
      },
    ),
    { numRuns: runs },
  );
});

test('a volume that is held for a claim matches no other claim until it is released', () => {
  fc.assert(
    fc.property(fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }), (events) => {
      const server = new ModelServer();
      const index = new ClusterIndex(stowageProfile);
      for (const event of events) server.apply(event, index);
      for (const claim of index.claims.records()) {
        const found = matchClaim(index, claim, false);
        if (found === undefined || found.claim !== undefined) continue;
        const savepoint = index.savepoint();
        index.setHold(found.key, 'other/claim');
        expect(matchClaim(index, claim, false)?.key).not.toBe(found.key);
        index.rollback(savepoint);
        expect(matchClaim(index, claim, false)?.key).toBe(found.key);
      }
    }),
    { numRuns: runs },
  );
});

function compareAll(index: ClusterIndex, server: ModelServer): void {
  const cluster = new OracleCluster(server.objects, stowageProfile, randomNowMs);
  for (const claim of server.objects.PersistentVolumeClaim ?? []) {
    const record = index.claims.get(objectKey(claim))!;
    for (const isDelayed of [false, true]) {
      const expected = record.isUsable ? bestByScanning(cluster, claim, isDelayed) : undefined;
      expect(matchClaim(index, record, isDelayed)?.key).toBe(expected);
    }
  }
}

function bestByScanning(
  cluster: OracleCluster,
  claim: PersistentVolumeClaim,
  isDelayed: boolean,
): string | undefined {
  const reserved = preboundVolumes(cluster, claim)
    .filter((volume) => hasAccessModes(volume, claim))
    .sort(compareVolumeObjects);
  const free = isDelayed ? [] : freeVolumesFor(cluster, claim).sort(fewestModesFirst);
  const best = [...reserved, ...free][0];
  return best && objectName(best);
}

function fewestModesFirst(a: PersistentVolume, b: PersistentVolume): number {
  const [left, right] = [a, b].map(({ spec }) => new Set(spec?.accessModes ?? []).size);
  return left! - right! || compareVolumeObjects(a, b);
}
