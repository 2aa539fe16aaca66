import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { Ledger } from '../ledger/ledger.ts';
import { plan } from '../plan.ts';
import { clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, drive, driveNode, gib, inlineVolume, pod } from '../testing/objects.ts';

const driver = 'drives.stowage.dev';

interface DriveState {
  readonly sizeGib: number;
  readonly accessTier: string;
  readonly unschedulable: boolean;
  /** The owner of a volume of 1Gi; empty for none. */
  readonly owner: string;
  /** The pod of an inline volume of 2Gi. */
  readonly user: string;
}

const states: fc.Arbitrary<DriveState> = fc.record({
  sizeGib: fc.constantFrom(4, 8),
  accessTier: fc.constantFrom('Hot', 'Hot', 'Default'),
  unschedulable: fc.constantFrom(false, false, true),
  owner: fc.constantFrom('', 'db', 'db', 'web'),
  user: fc.constantFrom('', '', 'running'),
});
const driveNames = fc.constantFrom('a', 'b');
/** Differs from the same drive of another step at most in the owner. */
const sameButOwner = fc.constantFrom('db', 'web').map((owner): DriveState => {
  return { sizeGib: 4, accessTier: 'Hot', unschedulable: false, owner, user: '' };
});

/** Changes of a drive, of the set db, of the running pod that has an inline volume, and reservations that end. */
type Step =
  | { readonly type: 'drive'; readonly name: string; readonly state: DriveState | undefined }
  | { readonly type: 'set'; readonly templates: readonly string[] | undefined }
  | { readonly type: 'pod'; readonly isThere: boolean }
  | { readonly type: 'reserve' | 'revert' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constant('drive' as const),
      name: driveNames,
      state: fc.option(states, { nil: undefined, freq: 6 }),
    }),
    fc.record({ type: fc.constant('drive' as const), name: fc.constant('a'), state: sameButOwner }),
    fc.record({
      type: fc.constant('set' as const),
      templates: fc.constantFrom<readonly string[] | undefined>(['data'], ['logs'], undefined),
    }),
    fc.record({ type: fc.constant('pod' as const), isThere: fc.boolean() }),
    fc.record({ type: fc.constantFrom('reserve' as const, 'revert' as const) }),
  ),
  { minLength: 1, maxLength: 8 },
);

function driveOf(name: string, state: DriveState, version: string): Drive {
  const { sizeGib, accessTier, unschedulable, owner, user } = state;
  const volumes: DriveVolume[] = [];
  if (owner !== '') volumes.push({ name: 'pvc-1', sizeBytes: gib(1), spreadGroup: `default/${owner}` });
  if (user !== '')
    volumes.push({
      name: 'csi-1',
      sizeBytes: gib(2),
      podRef: { namespace: 'default', name: user, uid: `uid-${user}` },
    });
  return drive(name, sizeGib, { version, spec: { accessTier, unschedulable, volumes } });
}

function setOf(templates: readonly string[], version: string): StatefulSet {
  return {
    metadata: { namespace: 'default', name: 'db', uid: 'uid-db', resourceVersion: version },
    spec: { volumeClaimTemplates: templates.map((name) => ({ metadata: { name } })) },
  } as unknown as StatefulSet;
}

function running(version: string): Pod {
  const object = pod('running', [], { nodeName: 'n1', volumes: [inlineVolume('scratch', driver, '2Gi')] });
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}

const hot = { ...inlineVolume('scratch', driver, '3Gi') };
/** One claim of db, two of them, an inline volume, and all kinds together. */
const asking: readonly Pod[] = [
  pod('one', ['data-db-0']),
  pod('two', ['data-db-0', 'data-db-1']),
  pod('inline', [], { volumes: [{ ...hot, csi: { ...hot.csi!, volumeAttributes: { accessTier: 'Hot' } } }] }),
  pod('all', ['data-db-1', 'plain'], { volumes: [inlineVolume('scratch', driver, '2Gi')] }),
];

class History {
  readonly index: ClusterIndex;
  readonly #ledger: Ledger;
  #version = 1;

  constructor() {
    const className = 'spread';
    this.index = clusterOf({
      StorageClass: [
        csiClass(driver, 'spread', { parameters: { spreadBy: 'claim-owner' } }),
        csiClass(driver, 'plain'),
      ],
      CSIDriver: [csiDriver(driver)],
      Node: [driveNode('n1')],
      PersistentVolumeClaim: [
        claim('data-db-0', '2Gi', { className }),
        claim('data-db-1', '2Gi', { className }),
        claim('data-db-2', '1Gi', { className }),
        claim('plain', '3Gi', { className: 'plain' }),
      ],
      Drive: [drive('small', 1)],
      StatefulSet: [setOf(['data'], '1')],
    });
    this.#ledger = new Ledger(this.index);
  }

  /** All changes that the owner of the queue would pass to the wakers. */
  apply(step: Step): readonly ClusterChange[] {
    const changes = this.#apply(step);
    const released = this.index.drainReleases();
    return [...changes, ...(released === undefined ? [] : [released])];
  }

  #apply(step: Step): readonly ClusterChange[] {
    const { index } = this;
    this.#version += 1;
    const version = String(this.#version);
    const changed = (change: ClusterChange | undefined) => (change === undefined ? [] : [change]);
    switch (step.type) {
      case 'drive':
        return changed(
          (step.state === undefined
            ? index.remove('Drive', step.name)
            : index.upsert('Drive', driveOf(step.name, step.state, version))
          ).change,
        );
      case 'set':
        return changed(
          (step.templates === undefined
            ? index.remove('StatefulSet', 'default/db')
            : index.upsert('StatefulSet', setOf(step.templates, version))
          ).change,
        );
      case 'pod':
        return changed(
          (step.isThere ? index.upsert('Pod', running(version)) : index.remove('Pod', 'default/running'))
            .change,
        );
      case 'reserve': {
        const answer = plan(pod('holder', ['data-db-2']), index, { nowMs: 0 });
        if (answer.kind === 'placement') this.#ledger.reserve(answer);
        return [];
      }
      case 'revert': {
        const reservation = this.#ledger.get('default/holder');
        return changed(reservation && this.#ledger.revert(reservation));
      }
    }
  }
}

test('every step that makes a pod fit on drives wakes it', () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(...asking), (history, target) => {
      const cluster = new History();
      for (const step of history) {
        const before = plan(target, cluster.index, { nowMs: 0 });
        cluster.index.drainReleases();
        const changes = cluster.apply(step);
        const after = plan(target, cluster.index, { nowMs: 0 });
        const late = cluster.index.drainReleases();
        const all = late === undefined ? changes : [...changes, late];
        if (before.kind !== 'refusal' || after.kind !== 'placement') continue;
        expect(all.some((change) => before.wokenBy(change))).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test('the bytes of an inline volume are deducted once: as a promise, or in the ledger of the drive that has it', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const cluster = new History();
      const users = new Map<string, string>();
      let isThere = false;
      for (const step of history) {
        if (step.type === 'reserve' || step.type === 'revert') continue;
        cluster.apply(step);
        cluster.index.settle(0);
        if (step.type === 'drive') users.set(step.name, step.state?.user ?? '');
        if (step.type === 'pod') ({ isThere } = step);
        const isInLedger = [...users.values()].includes('running');
        expect(promisedBytes(cluster.index)).toBe(isThere && !isInLedger ? gib(2) : 0);
      }
    }),
    { numRuns: 300 },
  );
});

function promisedBytes({ pools }: ClusterIndex): number {
  let bytes = 0;
  for (const { key } of pools.records()) bytes += pools.promisedTotal(key).bytes;
  return bytes;
}
