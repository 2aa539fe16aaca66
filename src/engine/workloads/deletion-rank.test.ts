import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { rankForDeletion } from './deletion-rank.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');

interface Traits {
  readonly node?: string;
  readonly phase?: 'Pending' | 'Unknown' | 'Running';
  readonly readySince?: string;
  readonly cost?: string;
  readonly restarts?: number;
  readonly created?: string;
}

function podOf(name: string, traits: Traits): Pod {
  const {
    node = 'n1',
    phase = 'Running',
    readySince,
    cost,
    restarts = 0,
    created = '2026-11-15T00:00:00Z',
  } = traits;
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: created,
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { nodeName: node },
    status: {
      phase,
      containerStatuses: [{ name: 'main', restartCount: restarts }],
      conditions:
        readySince === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }],
    },
  };
}

const longAgo = '2026-11-14T00:00:00Z';
const lately = '2026-11-15T11:59:00Z';

const pairs: readonly { readonly why: string; readonly first: Traits; readonly second: Traits }[] = [
  { why: 'without a node before with one', first: { node: '' }, second: {} },
  { why: 'pending before unknown', first: { phase: 'Pending' }, second: { phase: 'Unknown' } },
  { why: 'unknown before running', first: { phase: 'Unknown' }, second: { phase: 'Running' } },
  { why: 'not ready before ready', first: {}, second: { readySince: lately } },
  { why: 'low deletion cost before high', first: { cost: '-5' }, second: { cost: '3' } },
  { why: 'a cost that is not a number counts as none', first: { cost: 'low' }, second: { cost: '1' } },
  { why: 'on a node with other replicas before alone', first: { node: 'crowded' }, second: { node: 'n1' } },
  {
    why: 'ready recently before ready for long',
    first: { readySince: lately },
    second: { readySince: longAgo },
  },
  { why: 'restarted often before never', first: { restarts: 3 }, second: {} },
  { why: 'young before old', first: { created: lately }, second: { created: longAgo } },
];

test.each(pairs)('$why', ({ first, second }) => {
  // The names would give the opposite order.
  const [one, other] = [podOf('z', first), podOf('a', second)];
  const related = [podOf('x', { node: 'crowded' }), podOf('y', { node: 'crowded' }), one, other];
  expect(rankForDeletion([other, one], related, nowMs).map(({ metadata }) => metadata?.name)).toEqual([
    'z',
    'a',
  ]);
  expect(rankForDeletion([one, other], related, nowMs).map(({ metadata }) => metadata?.name)).toEqual([
    'z',
    'a',
  ]);
});

test('ages within a power of two of each other count as equal, and the uid decides', () => {
  const ages = ['2026-11-15T11:00:00Z', '2026-11-15T11:00:10Z'];
  const pods = ages.map((created, index) => podOf(`${index}`, { created }));
  expect(rankForDeletion(pods.toReversed(), [], nowMs).map(({ metadata }) => metadata?.name)).toEqual([
    '0',
    '1',
  ]);
});
