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

/** Pods that look at every corner of the index. */
const battery = [
  pod('one', ['c1']),
  pod('two', ['c2', 'c3']),
  pod('all', ['c1', 'c2', 'c3', 'c4']),
  pod('scratch', [], { volumes: [{ name: 'scratch', csi: { driver: 'd1', fsSize: '1Gi' } }] }),
];

test('an index that has lived through a history equals one that is built from where it ended', () => {
  fc.assert(
    fc.property(
      fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }),
      fc.array(fc.nat(eventsMax), { maxLength: 6 }),
      (events, looks) => {
        const server = new ModelServer();
        const index = new ClusterIndex(stowageProfile);
        for (const [position, event] of events.entries()) {
          server.apply(event, index);
          // Answers along the way fill the caches, which must not outlive the next event.
          if (looks.includes(position)) for (const each of battery) plan(each, index, { nowMs });
        }
        const fresh = clusterOf(server.objects, stowageProfile);
        expect(dumpSettled(index, nowMs)).toEqual(dumpSettled(fresh, nowMs));
        for (const each of battery)
          expect(planOutcome(index, each, nowMs)).toEqual(planOutcome(fresh, each, nowMs));
      },
    ),
    { numRuns: runs },
  );
});

test('the order in which objects are listed does not matter', () => {
  fc.assert(
    fc.property(
      fc.array(arbEvent, { maxLength: eventsMax, size: 'max' }),
      fc.infiniteStream(fc.nat()),
      (events, draws) => {
        const server = new ModelServer();
        const forgotten = new ClusterIndex(stowageProfile);
        for (const event of events) server.apply(event, forgotten);
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

test('what is known already, and what is older, changes nothing', () => {
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
