import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import { plan } from '../plan.ts';
import { clusterOf, planOutcome } from '../testing/cluster.ts';
import { dumpSettled } from '../testing/index-dump.ts';
import { pod } from '../testing/objects.ts';
import { randomNowMs as nowMs } from '../testing/random/cluster.ts';
import { arbEvent, ModelServer, upsertObject } from '../testing/random/events.ts';

const runs = 250;
const eventsMax = 60;

/** Pods that exercise every table of the index. */
const pods = [
  pod('one', ['c1']),
  pod('two', ['c2', 'c3']),
  pod('all', ['c1', 'c2', 'c3', 'c4']),
  pod('scratch', [], { volumes: [{ name: 'scratch', csi: { driver: 'd1', fsSize: '1Gi' } }] }),
];

test('an index after a history of events equals one that is built from the final objects', () => {
  fc.assert(
    fc.property(
      fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }),
      fc.array(fc.nat(eventsMax), { maxLength: 6 }),
      (events, checkpoints) => {
        const server = new ModelServer();
        const index = new ClusterIndex(stowageProfile);
        for (const [position, event] of events.entries()) {
          server.apply(event, index);
          // Plans in between fill the caches, which the next event must invalidate.
          if (checkpoints.includes(position)) for (const each of pods) plan(each, index, { nowMs });
        }
        const fresh = clusterOf(server.objects, stowageProfile);
        expect(dumpSettled(index, nowMs)).toEqual(dumpSettled(fresh, nowMs));
        for (const each of pods)
          expect(planOutcome(index, each, nowMs)).toEqual(planOutcome(fresh, each, nowMs));
      },
    ),
    { numRuns: runs },
  );
});

test('the order in which objects are added does not matter', () => {
  fc.assert(
    fc.property(
      fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }),
      fc.infiniteStream(fc.nat()),
      (events, draws) => {
        const server = new ModelServer();
        const unused = new ClusterIndex(stowageProfile);
        for (const event of events) server.apply(event, unused);
        const entries = server.entries.map((entry) => ({ ...entry, draw: draws.next().value as number }));
        const shuffled = new ClusterIndex(stowageProfile);
        for (const { kind, object } of entries.sort((a, b) => a.draw - b.draw))
          upsertObject(shuffled, kind, object);
        const ordered = clusterOf(server.objects, stowageProfile);
        expect(dumpSettled(shuffled, nowMs)).toEqual(dumpSettled(ordered, nowMs));
      },
    ),
    { numRuns: runs / 2 },
  );
});

test('repeated and stale events change nothing', () => {
  fc.assert(
    fc.property(fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }), (events) => {
      const server = new ModelServer();
      const index = new ClusterIndex(stowageProfile);
      for (const event of events) {
        const applied = server.apply(event, index);
        if (event.type === 'repeat' || event.type === 'stale') expect(applied?.change).toBeUndefined();
      }
    }),
    { numRuns: runs / 2 },
  );
});
