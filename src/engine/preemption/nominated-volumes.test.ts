/** A nominated pod holds the bytes of its volumes: pods of lower priority do not take what its victims leave. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { readPod } from '../records/pod-record.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import {
  atVersion,
  claim,
  csiClass,
  csiDriver,
  drive,
  driveNode,
  driverCapacity,
  gib,
  inlineVolume,
  pod,
  pool,
  storageCapacity,
} from '../testing/objects.ts';
import { findVictims } from './find-victims.ts';
import { planWithNominated } from './plan-with-nominated.ts';
import { high, low, nowMs } from './testing/preemption-cluster.ts';

const driver = 'drives.stowage.dev';
const nominated = { status: { nominatedNodeName: 'n1' } };

/** A pod with an inline volume of this size. */
function scratchPod(name: string, size: string, priority: number, nodeName?: string): Pod {
  const volumes = [inlineVolume('scratch', driver, size)];
  const made = pod(name, [], { volumes, ...(nodeName !== undefined && { nodeName }) });
  return { ...made, spec: { ...made.spec, priority } };
}

function leaving(victim: Pod): Pod {
  return {
    ...victim,
    metadata: { ...victim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
  };
}

/** The entry of the inline volume of a pod. */
function entry(podName: string, sizeGib: number): DriveVolume {
  const podRef = { namespace: 'default', name: podName, uid: `uid-${podName}` };
  return { name: `csi-${podName}`, sizeBytes: gib(sizeGib), podRef };
}

function driveCluster(drives: readonly Drive[], pods: readonly Pod[], more: ClusterObjects = {}) {
  return clusterOf({
    CSIDriver: [csiDriver(driver)],
    StorageClass: [csiClass(driver, 'local')],
    Node: [driveNode('n1')],
    Drive: drives,
    Pod: pods,
    ...more,
  });
}

/** The pools of the placement, or the message. */
function planned(index: ReturnType<typeof clusterOf>, asking: Pod, preemptor: Pod): string {
  index.upsert('Pod', preemptor);
  index.settle(nowMs);
  const before = dumpIndex(index);
  const answer = planWithNominated(asking, index, {
    nowMs,
    rules: volumeRules,
    nominated: [readPod(preemptor)],
  });
  expect(dumpIndex(index)).toEqual(before);
  if (answer.kind === 'refusal') return answer.message;
  return answer.inlineVolumes.map(({ pool: { name } }) => name).join(' ');
}

const refused = '0/1 nodes are available: 1 node(s) did not have enough free storage.';

describe('a preemptor that waits for two victims', () => {
  const preemptor = { ...scratchPod('preemptor', '6Gi', high), ...nominated };
  const replacement = scratchPod('replacement', '3Gi', low);

  test('keeps the bytes that the first one has left', () => {
    const second = leaving(scratchPod('second', '3Gi', low, 'n1'));
    const index = driveCluster([drive('a', 6, { spec: { volumes: [entry('second', 3)] } })], [second]);
    expect(planned(index, replacement, preemptor)).toContain(refused);
  });

  test('does so too while the second volume is only promised', () => {
    const second = leaving(scratchPod('second', '3Gi', low, 'n1'));
    expect(planned(driveCluster([drive('a', 6)], [second]), replacement, preemptor)).toContain(refused);
  });

  test('keeps those of the drive that they leave, although another one has more free bytes now', () => {
    const second = leaving(scratchPod('second', '3Gi', low, 'n1'));
    const drives = [drive('a', 6, { spec: { volumes: [entry('second', 3)] } }), drive('b', 4)];
    expect(planned(driveCluster(drives, [second]), replacement, preemptor)).toBe('b');
    const larger = scratchPod('replacement', '5Gi', low);
    expect(planned(driveCluster(drives, [second]), larger, preemptor)).toContain(refused);
  });

  test('keeps those of a published pool', () => {
    const pods = [leaving(scratchPod('second', '3Gi', low, 'n1'))];
    const pools = [pool('n1', '6Gi', { nodeList: ['n1'] })];
    const index = clusterOf({
      Node: [driveNode('n1')],
      Pod: pods,
      DriverCapacity: [driverCapacity(driver, [{ storageClassName: '<ephemeral>', pools }])],
    });
    expect(planned(index, replacement, preemptor)).toContain(refused);
  });

  test('leaves alone what it cannot use, even when they are gone', () => {
    const larger = { ...scratchPod('preemptor', '9Gi', high), ...nominated };
    expect(planned(driveCluster([drive('a', 6)], []), replacement, larger)).toBe('a');
  });

  test('does not keep them from a pod of higher priority', () => {
    const urgent = scratchPod('urgent', '3Gi', high + 1);
    expect(planned(driveCluster([drive('a', 6)], []), urgent, preemptor)).toBe('a');
  });
});

test('a pod uses another drive than the one that a nominated pod needs', () => {
  const preemptor = { ...scratchPod('preemptor', '8Gi', high), ...nominated };
  const index = driveCluster([drive('a', 8), drive('b', 7)], []);
  expect(planned(index, scratchPod('p', '6Gi', low), preemptor)).toBe('b');
});

describe('a preemptor with a claim', () => {
  const made = pod('preemptor', ['data']);
  const preemptor: Pod = { ...made, spec: { ...made.spec, priority: high }, ...nominated };
  const reserve = { annotations: { [annotations.growthReserve]: '40%' } };

  function withClaim(isReserving: boolean) {
    const data = claim('data', '4Gi', { className: 'local' });
    const metadata = { ...data.metadata, ...(isReserving && reserve) };
    return driveCluster([drive('a', 9)], [], { PersistentVolumeClaim: [{ ...data, metadata }] });
  }

  test('keeps the bytes of its volume', () => {
    expect(planned(withClaim(false), scratchPod('p', '5Gi', low), preemptor)).toBe('a');
    expect(planned(withClaim(false), scratchPod('p', '6Gi', low), preemptor)).toContain(refused);
  });

  test('keeps also those that have to stay free beside it', () => {
    expect(planned(withClaim(true), scratchPod('p', '1Gi', low), preemptor)).toBe('a');
    expect(planned(withClaim(true), scratchPod('p', '2Gi', low), preemptor)).toContain(refused);
  });

  test('does not keep any for kube-scheduler', () => {
    const asking = pod('p', ['other']);
    const objects: ClusterObjects = {
      CSIDriver: [csiDriver(driver)],
      StorageClass: [csiClass(driver, 'local')],
      Node: [driveNode('n1')],
      CSIStorageCapacity: [storageCapacity('pool', 'local', { capacity: '5Gi' })],
      PersistentVolumeClaim: ['data', 'other'].map((name) => claim(name, '4Gi', { className: 'local' })),
    };
    const options = { nowMs, rules: volumeRules, nominated: [readPod(preemptor)] };
    const kindWith = (index: ReturnType<typeof clusterOf>) => planWithNominated(asking, index, options).kind;
    expect(kindWith(clusterOf(objects))).toBe('refusal');
    expect(kindWith(clusterOf(objects, upstreamProfile))).toBe('placement');
  });
});

describe('after its victims, a preemptor waits for their volumes to be deleted', () => {
  const preemptor = { ...scratchPod('preemptor', '6Gi', high), ...nominated };

  /** Whether it keeps its nomination; or the node of new victims. */
  function outcome(drives: readonly Drive[], pods: readonly Pod[] = []): string | boolean {
    const index = driveCluster(drives, pods, { Node: [driveNode('n1'), driveNode('n2')] });
    const options = { nowMs, rules: volumeRules, nominated: [readPod(preemptor)] };
    const refusal = planWithNominated(preemptor, index, options);
    if (refusal.kind === 'placement') return expect.fail('it fits');
    const found = findVictims(preemptor, refusal, index, { ...options, budgets: [], seed: 0 });
    return found.kind === 'none' ? found.keepsNomination : found.node;
  }

  const vacated = drive('a', 6, { spec: { volumes: [entry('victim', 6)] } });

  test('which are in the ledger of the drive', () => {
    expect(outcome([vacated])).toBe(true);
    expect(outcome([drive('a', 6, { spec: { volumes: [entry('victim', 6)] }, state: 'Lost' })])).toBe(false);
  });

  test('and evicts no others meanwhile', () => {
    const other = scratchPod('other', '6Gi', low, 'n2');
    const drives = [vacated, drive('b', 6, { node: 'n2', spec: { volumes: [entry('other', 6)] } })];
    expect(outcome(drives, [other])).toBe(true);
    const finished: Pod = { ...leaving(scratchPod('victim', '6Gi', low, 'n1')), status: { phase: 'Failed' } };
    expect(outcome(drives, [other, finished])).toBe(true);
  });

  test('unless that is not enough', () => {
    const small = drive('a', 6, { spec: { volumes: [entry('victim', 5), entry('stays', 1)] } });
    expect(outcome([small], [scratchPod('stays', '1Gi', high, 'n1')])).toBe(false);
  });

  test('and the deletion wakes it', () => {
    const index = driveCluster([vacated], [preemptor]);
    const refusal = planWithNominated(preemptor, index, { nowMs, nominated: [readPod(preemptor)] });
    if (refusal.kind === 'placement') return expect.fail('it fits');
    const { change } = index.upsert('Drive', atVersion('2', drive('a', 6)));
    expect(refusal.wokenBy(change!)).toBe(true);
  });
});
