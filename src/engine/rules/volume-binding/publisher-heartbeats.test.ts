import { expect, test } from 'vitest';
import type { Lease } from '../../../kube/api/coordination.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { type Profile, upstreamProfile } from '../../cluster-index/profile.ts';
import { setPublisherLease } from '../../cluster-index/publisher-lease.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { expectRefusal } from '../../testing/expect-plan.ts';
import { claim, csiClass, csiDriver, node, pod, storageCapacity } from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';

const driver = 'disk.csi';
const lease = 'kube-system/stowage-capacity';
const renewedMs = Date.parse('2026-01-01T12:00:00Z');
const minuteMs = 60_000;
/** The duration of the Lease, a minute for clocks that differ, and ten minutes in which the publisher may come back. */
const trustedUntilMs = renewedMs + 15_000 + 11 * minuteMs;

function renewed(atMs: number): Lease {
  return { spec: { leaseDurationSeconds: 15, renewTime: new Date(atMs).toISOString() } };
}

/** A pool whose publisher renewed the Lease at noon, and a pod that needs the pool. */
function clusterWith({ named = true, profile }: { named?: boolean; profile?: Profile } = {}): ClusterIndex {
  const report = storageCapacity('net', 'local', { capacity: '10Gi' });
  const marks = named ? { [annotations.publisherLease]: lease } : {};
  const index = clusterOf(
    {
      Node: [node('n1')],
      StorageClass: [csiClass(driver, 'local')],
      CSIDriver: [csiDriver(driver)],
      CSIStorageCapacity: [{ ...report, metadata: { ...report.metadata, annotations: marks } }],
      PersistentVolumeClaim: [claim('a', '1Gi')],
    },
    profile,
  );
  setPublisherLease(index, lease, renewed(renewedMs));
  return index;
}

function fits(index: ClusterIndex, nowMs: number): boolean {
  return plan(pod('p', ['a']), index, { nowMs }).kind === 'placement';
}

test('the capacity reports of a publisher that no longer renews its Lease are not used, and the refusal says why', () => {
  const index = clusterWith();
  expect(fits(index, trustedUntilMs - 1)).toBe(true);
  expect(fits(index, trustedUntilMs)).toBe(false);
  const refusal = expectRefusal(index, pod('p', ['a']), trustedUntilMs);
  const details = refusal
    .explain()
    .nodes.flatMap(({ findings }) =>
      findings.flatMap(({ candidates = [] }) =>
        candidates.flatMap(({ obstacles }) => obstacles.map(({ code, detail }) => `${code}: ${detail}`)),
      ),
    );
  expect(details).toContain(
    `PublisherGone: its publisher no longer renews Lease ${lease}, so its capacity reports are not used`,
  );
});

test('reports without a Lease, or with one that is not known, are used as ever', () => {
  expect(fits(clusterWith({ named: false }), trustedUntilMs + 1)).toBe(true);
  const index = clusterWith();
  setPublisherLease(index, lease, undefined);
  expect(fits(index, trustedUntilMs + 1)).toBe(true);
});

test('kube-scheduler does not look at Leases, nor does the profile upstream', () => {
  expect(fits(clusterWith({ profile: upstreamProfile }), trustedUntilMs + 1)).toBe(true);
});

test('a renewal wakes the pods that were refused since the reports expired, and no others', () => {
  const index = clusterWith();
  const { waker } = expectRefusal(index, pod('p', ['a']), trustedUntilMs);
  const change = setPublisherLease(index, lease, renewed(trustedUntilMs + minuteMs));
  expect(change).toMatchObject({ kind: 'Release', expiredAtMs: trustedUntilMs });
  expect(waker.wokenBy(change!)).toBe(true);
  expect(fits(index, trustedUntilMs + minuteMs)).toBe(true);
  const next = setPublisherLease(index, lease, renewed(trustedUntilMs + 2 * minuteMs));
  expect(waker.wokenBy(next!), 'the reports had not expired since').toBe(false);
});

test('a what-if question that renews the Lease leaves no trace', () => {
  const index = clusterWith();
  const savepoint = index.savepoint();
  setPublisherLease(index, lease, renewed(trustedUntilMs));
  expect(fits(index, trustedUntilMs)).toBe(true);
  index.rollback(savepoint);
  expect(fits(index, trustedUntilMs)).toBe(false);
});

test('pools are counted as soon as their publisher is gone, before their reports expire', () => {
  const { expiry } = clusterWith().pools;
  expect(expiry.countWithoutPublisher(renewedMs + minuteMs)).toBe(0);
  expect(expiry.countWithoutPublisher(renewedMs + 2 * minuteMs)).toBe(1);
});
