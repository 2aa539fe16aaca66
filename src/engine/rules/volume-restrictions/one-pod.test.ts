import { describe, expect, test } from 'vitest';
import type {
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from '../../../kube/api/core.ts';
import { readPod } from '../../records/pod-record.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import { atVersion, claim, node, pod } from '../../testing/objects.ts';
import { expectSameAsOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import { expectRuleRefusal, expectRuleWakeCases, ruleVerdict } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { volumeRestrictionsRule } from './rule.ts';

const rule = eraseState(volumeRestrictionsRule);
const refused =
  '0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.';

function claimOf(mode: PersistentVolumeAccessMode, version = '1'): PersistentVolumeClaim {
  return claim('data', '1Gi', { spec: { accessModes: [mode] }, version });
}

const nodes = [node('n1'), node('n2')];
const other = pod('other', ['data'], { nodeName: 'n1' });
const taken = { Node: nodes, PersistentVolumeClaim: [claimOf('ReadWriteOncePod')], Pod: [other] };
const asking = pod('p', ['data']);

describe('a ReadWriteOncePod claim', () => {
  test('that another pod uses refuses the pod on every node', () => {
    const refusal = expectRuleRefusal(rule, clusterOf(taken), asking);
    expect(refusal.message).toBe(refused);
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual(['n1', 'n2']);
    expect(refusal.explain().nodes[1]!.findings).toMatchObject([
      { reason: 'ClaimInUse', claim: 'default/data' },
    ]);
  });

  test('that no pod uses does not refuse it', () => {
    expect(ruleVerdict(rule, clusterOf({ ...taken, Pod: [] }), asking)).toBe('fits');
  });

  test('with an access mode for several pods does not refuse it', () => {
    const index = clusterOf({ ...taken, PersistentVolumeClaim: [claimOf('ReadWriteOnce')] });
    expect(ruleVerdict(rule, index, asking)).toBe('fits');
  });

  test('of the same name in another namespace is another claim', () => {
    const metadata = { namespace: 'elsewhere', name: 'p' };
    const index = clusterOf(taken);
    index.upsert('PersistentVolumeClaim', {
      ...claimOf('ReadWriteOncePod'),
      metadata: { namespace: 'elsewhere', name: 'data' },
    });
    expect(ruleVerdict(rule, index, { ...asking, metadata })).toBe('fits');
  });

  test('is not in use by a pod that is pending, finished, or on a node that does not exist', () => {
    const waits = pod('waits', ['data']);
    const over: Pod = { ...pod('over', ['data'], { nodeName: 'n1' }), status: { phase: 'Succeeded' } };
    const lost = pod('lost', ['data'], { nodeName: 'gone' });
    expect(ruleVerdict(rule, clusterOf({ ...taken, Pod: [waits, over, lost] }), asking)).toBe('fits');
  });

  test('is in use by a pod that is being deleted or assumed; but not by the pod itself', () => {
    const going: Pod = {
      ...other,
      metadata: { ...other.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(ruleVerdict(rule, clusterOf({ ...taken, Pod: [going] }), asking)).toBe(refused);
    const index = clusterOf({ ...taken, Pod: [pod('other', ['data'])] });
    index.setAssumedPod('default/other', readPod(other));
    expect(ruleVerdict(rule, index, asking)).toBe(refused);
    expect(ruleVerdict(rule, clusterOf(taken), pod('other', ['data']))).toBe('fits');
  });
});

describe('a pod that was refused because of its claim', () => {
  const waiting = { cluster: taken, pod: asking };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when the other is deleted',
      event: removed('Pod', 'default/other'),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken when the other changes',
      event: upserted('Pod', atVersion('2', other)),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is not woken by a pod that waits for the same claim',
      event: upserted('Pod', pod('rival', ['data'])),
      wakes: false,
    },
    {
      ...waiting,
      cluster: { ...taken, Pod: [other, asking] },
      name: 'is not woken by its own status',
      event: upserted('Pod', atVersion('2', { ...asking, status: { phase: 'Pending' } })),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is woken when the access mode of the claim changes',
      event: upserted('PersistentVolumeClaim', claimOf('ReadWriteOnce', '2')),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken by other changes of the claim',
      event: upserted('PersistentVolumeClaim', claimOf('ReadWriteOncePod', '2')),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is woken when the node of the other is deleted',
      event: removed('Node', 'n1'),
      wakes: true,
    },
  ]);
});

function inTheWay(mine: Volume, its: Volume): boolean {
  const isRead = (one?: { readonly readOnly?: boolean }, two?: { readonly readOnly?: boolean }) =>
    one?.readOnly === true && two?.readOnly === true;
  if (mine.awsElasticBlockStore !== undefined && its.awsElasticBlockStore !== undefined) return true;
  if (mine.gcePersistentDisk !== undefined && its.gcePersistentDisk !== undefined)
    return !isRead(mine.gcePersistentDisk, its.gcePersistentDisk);
  if (mine.iscsi !== undefined && its.iscsi !== undefined) return !isRead(mine.iscsi, its.iscsi);
  if (mine.rbd === undefined || its.rbd === undefined || mine.rbd.pool !== its.rbd.pool) return false;
  return mine.rbd.monitors!.some((one) => its.rbd!.monitors!.includes(one)) && !isRead(mine.rbd, its.rbd);
}

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(
    rule,
    (model, { spec }) => {
      const existing = model.podsOnNodes();
      const volumes = spec?.volumes ?? [];
      const isTaken = volumes.some(({ persistentVolumeClaim }) => {
        const name = persistentVolumeClaim?.claimName ?? '';
        return (
          model.claim(name)?.spec?.accessModes?.includes('ReadWriteOncePod') === true &&
          existing.some((one) =>
            one.spec!.volumes!.some((its) => its.persistentVolumeClaim?.claimName === name),
          )
        );
      });
      const reasons = model.nodes().flatMap(({ metadata }) => {
        const here = existing.filter((one) => one.spec!.nodeName === metadata!.name);
        const isInUse = volumes.some((mine) =>
          here.some((one) => one.spec!.volumes!.some((its) => inTheWay(mine, its))),
        );
        if (isInUse) return [[metadata!.name!, ['DiskInUse']]];
        return isTaken ? [[metadata!.name!, ['ClaimInUse']]] : [];
      });
      return { refusals: [], refused: Object.fromEntries(reasons), scores: {} };
    },
    { runs: 300 },
  );
});
