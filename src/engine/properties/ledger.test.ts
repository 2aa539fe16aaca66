import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import { Ledger, type Reservation } from '../ledger/ledger.ts';
import { type Placement, plan } from '../plan.ts';
import { nanoOf } from '../size.ts';
import { clusterOf, planOutcome } from '../testing/cluster.ts';
import { dumpIndex, dumpSettled, expirePromises } from '../testing/index-dump.ts';
import { pod } from '../testing/objects.ts';
import { arbObjects, randomNowMs as nowMs, type RandomObjects } from '../testing/random/cluster.ts';
import { scarcePools, scarceVolumes } from '../testing/random/distribution.ts';
import { arbEvent, ModelServer, type RandomEvent } from '../testing/random/events.ts';

const runs = propertyRuns(100);

/** Some share claims, one has an inline volume, and there are more pods than the cluster has storage for. */
const pods = [
  pod('a', ['c1', 'c2']),
  pod('b', ['c2', 'c3']),
  pod('c', ['c4']),
  pod('d', ['o1', 'o2', 'o3']),
  pod('e', ['c3'], { volumes: [{ name: 'scratch', csi: { driver: 'd1', fsSize: '1Gi' } }] }),
];

/** `plan` stores a plan, `reserve later` reserves the stored plan after other steps, and `reserve` does both in one step. */
type Step =
  | { readonly type: 'plan' | 'reserve later' | 'reserve' | 'revert' | 'confirm'; readonly pod: number }
  | { readonly type: 'event'; readonly event: RandomEvent };

const ledgerSteps: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom(
    'plan',
    'plan',
    'reserve later',
    'reserve later',
    'reserve',
    'reserve',
    'revert',
    'confirm',
  ),
  pod: fc.nat(pods.length - 1),
});
const eventSteps: fc.Arbitrary<Step> = fc.record({ type: fc.constant('event'), event: arbEvent });
const anySteps = fc.oneof({ weight: 3, arbitrary: ledgerSteps }, { weight: 2, arbitrary: eventSteps });

const clusters = fc.oneof(arbObjects(scarceVolumes), arbObjects(scarcePools));

/** An index, its ledger, and the model of the API server that updates them. */
class Fixture {
  readonly server: ModelServer;
  readonly index: ClusterIndex;
  readonly ledger: Ledger;
  /** All reservations ever made, to test that a second revert changes nothing. */
  readonly reservations: Reservation[] = [];
  readonly #plans = new Map<number, Placement>();

  constructor(objects: RandomObjects) {
    this.server = new ModelServer(objects);
    this.index = clusterOf(this.server.objects, stowageProfile);
    this.ledger = new Ledger(this.index);
  }

  take(step: Step): void {
    if (step.type === 'event') {
      this.server.apply(step.event, this.index);
      return;
    }
    if (step.type === 'plan' || step.type === 'reserve') this.#plan(step.pod);
    if (step.type === 'reserve later' || step.type === 'reserve') this.#reserve(step.pod);
    const own = this.ledger.get(`default/${pods[step.pod]!.metadata!.name}`);
    if (own !== undefined && (step.type === 'revert' || step.type === 'confirm')) this.ledger[step.type](own);
  }

  #plan(position: number): void {
    const answer = plan(pods[position]!, this.index, { nowMs });
    if (answer.kind === 'placement') this.#plans.set(position, answer);
    else this.#plans.delete(position);
  }

  #reserve(position: number): void {
    const placement = this.#plans.get(position);
    const result = placement && this.ledger.reserve(placement);
    // Reserving the same placement again succeeds and reserves nothing.
    if (result?.kind === 'reserved' && !this.reservations.includes(result.reservation))
      this.reservations.push(result.reservation);
  }

  revertAll(): void {
    for (const reservation of [...this.ledger.all()]) this.ledger.revert(reservation);
  }
}

describe('the ledger', () => {
  test('releases exactly what it reserved', () => {
    fc.assert(
      fc.property(clusters, fc.array(ledgerSteps, { maxLength: 20 }), (objects, steps) => {
        const fixture = new Fixture(objects);
        expirePromises(fixture.index, nowMs);
        const before = dumpIndex(fixture.index, fixture.ledger);
        for (const step of steps) if (step.type !== 'confirm') fixture.take(step);
        fixture.revertAll();
        expect(dumpIndex(fixture.index, fixture.ledger)).toEqual(before);
      }),
      { numRuns: runs },
    );
  });

  test('never lets two claims hold one volume, or one claim two volumes, and leaves nothing behind after all reservations are reverted', () => {
    fc.assert(
      fc.property(clusters, fc.array(anySteps, { maxLength: 30, size: 'max' }), (objects, steps) => {
        const fixture = new Fixture(objects);
        for (const step of steps) {
          fixture.take(step);
          expectSingleHolders(fixture);
        }
        fixture.revertAll();
        const fresh = clusterOf(fixture.server.objects, stowageProfile);
        expect(dumpSettled(fixture.index, nowMs, fixture.ledger)).toEqual(dumpSettled(fresh, nowMs));
        for (const each of pods)
          expect(planOutcome(fixture.index, each, nowMs)).toEqual(planOutcome(fresh, each, nowMs));
      }),
      { numRuns: runs },
    );
  });

  test('never promises more of a pool than it publishes', () => {
    fc.assert(
      fc.property(
        arbObjects(scarcePools),
        fc.array(anySteps, { maxLength: 30, size: 'max' }),
        (objects, steps) => {
          const fixture = new Fixture(objects);
          for (const step of steps) {
            const known = fixture.reservations.length;
            fixture.take(step);
            for (const reservation of fixture.reservations.slice(known))
              expectCapacity(fixture.index, reservation);
          }
        },
      ),
      { numRuns: runs },
    );
  });

  test('does nothing when a reservation is reverted or confirmed again', () => {
    fc.assert(
      fc.property(clusters, fc.array(anySteps, { maxLength: 20 }), (objects, steps) => {
        const fixture = new Fixture(objects);
        for (const step of steps) fixture.take(step);
        const live = new Set(fixture.ledger.all());
        const before = dumpIndex(fixture.index, fixture.ledger);
        for (const reservation of fixture.reservations.filter((candidate) => !live.has(candidate))) {
          expect(fixture.ledger.revert(reservation)).toBeUndefined();
          expect(fixture.ledger.confirm(reservation).kind).toBe('unknown');
        }
        for (const reservation of live)
          expect(fixture.ledger.reserve(reservation.placement).kind).toBe('reserved');
        expect(dumpIndex(fixture.index, fixture.ledger)).toEqual(before);
      }),
      { numRuns: runs / 2 },
    );
  });
});

describe('a savepoint', () => {
  test('rolls back all later steps, and the index behaves as if they had not happened', () => {
    fc.assert(
      fc.property(
        clusters,
        fc.array(anySteps, { maxLength: 10 }),
        fc.array(anySteps, { maxLength: 15 }),
        (objects, past, tried) => {
          const fixture = new Fixture(objects);
          for (const step of past) fixture.take(step);
          const before = dumpIndex(fixture.index, fixture.ledger);
          const history = structuredClone(fixture.server.objects);
          const savepoint = fixture.index.savepoint();
          for (const step of tried) fixture.take(step);
          for (const each of pods) plan(each, fixture.index, { nowMs });
          fixture.index.rollback(savepoint);
          expect(dumpIndex(fixture.index, fixture.ledger)).toEqual(before);
          fixture.revertAll();
          const fresh = clusterOf(history, stowageProfile);
          expect(dumpSettled(fixture.index, nowMs, fixture.ledger)).toEqual(dumpSettled(fresh, nowMs));
        },
      ),
      { numRuns: runs },
    );
  });

  test('inside another rolls back its own steps, or leaves them to the outer savepoint', () => {
    fc.assert(
      fc.property(
        clusters,
        fc.array(anySteps, { maxLength: 8 }),
        fc.array(anySteps, { maxLength: 8 }),
        fc.boolean(),
        (objects, outer, inner, keepsInner) => {
          const fixture = new Fixture(objects);
          const start = dumpIndex(fixture.index, fixture.ledger);
          const outerSavepoint = fixture.index.savepoint();
          for (const step of outer) fixture.take(step);
          const middle = dumpIndex(fixture.index, fixture.ledger);
          const innerSavepoint = fixture.index.savepoint();
          for (const step of inner) fixture.take(step);
          if (keepsInner) fixture.index.release(innerSavepoint);
          else {
            fixture.index.rollback(innerSavepoint);
            expect(dumpIndex(fixture.index, fixture.ledger)).toEqual(middle);
          }
          fixture.index.rollback(outerSavepoint);
          expect(dumpIndex(fixture.index, fixture.ledger)).toEqual(start);
        },
      ),
      { numRuns: runs },
    );
  });
});

function expectSingleHolders({ index, ledger }: Fixture): void {
  const holderOf = new Map<string, string>();
  for (const { placement } of ledger.all()) {
    for (const { claim, claimVersion, volume, volumeVersion } of placement.bindings) {
      const isAsPlanned =
        index.volumes.get(volume)?.version === volumeVersion &&
        index.claims.get(claim)?.version === claimVersion;
      // An object that was deleted or changed since may no longer be held; its reservation then has a conflict.
      if (isAsPlanned) expect(index.volumes.holderOf(volume)).toBe(claim);
      if (index.volumes.holderOf(volume) !== claim) continue;
      expect(holderOf.get(claim) ?? volume).toBe(volume);
      holderOf.set(claim, volume);
    }
  }
}

/** If a pool shares its disks, promises on the other pools count too. Other tests compare `available` with the oracle. */
function expectCapacity(index: ClusterIndex, { placement }: Reservation): void {
  for (const { pool, requested } of [...placement.provisions, ...placement.inlineVolumes]) {
    if (pool === undefined || nanoOf(requested) === 0n) continue;
    const row = index.pools.row(pool.key);
    // The pool was deleted, but another pod that shares the claim had the promise before.
    if (row === undefined) continue;
    const record = index.pools.record(row);
    const published = record.free ?? record.largest!;
    let promised = 0n;
    for (const size of index.pools.promisesOf(pool.key).values()) promised += nanoOf(size);
    expect(promised).toBeLessThanOrEqual(nanoOf(published));
    expect(nanoOf(index.pools.available(row))).toBeGreaterThanOrEqual(0n);
  }
}
