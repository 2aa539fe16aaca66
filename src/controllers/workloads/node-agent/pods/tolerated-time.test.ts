import { expect, test } from 'vitest';
import type { Taint, Toleration } from '../../../../kube/api/core.ts';
import { toleratedTimeMs } from './tolerated-time.ts';

const fire: Taint = { key: 'fire', effect: 'NoExecute' };
const flood: Taint = { key: 'flood', effect: 'NoExecute' };

function tolerating(key: string, tolerationSeconds?: number): Toleration {
  const forHowLong = tolerationSeconds === undefined ? {} : { tolerationSeconds };
  return { key, operator: 'Exists', effect: 'NoExecute', ...forHowLong };
}

test.each([
  { what: 'no taint', taints: [], tolerations: [], expected: Number.POSITIVE_INFINITY },
  { what: 'a taint', taints: [fire], tolerations: [], expected: 0 },
  {
    what: 'a taint for the scheduler',
    taints: [{ ...fire, effect: 'NoSchedule' as const }],
    tolerations: [],
    expected: Number.POSITIVE_INFINITY,
  },
  {
    what: 'a taint that it tolerates',
    taints: [fire],
    tolerations: [tolerating('fire')],
    expected: Number.POSITIVE_INFINITY,
  },
  {
    what: 'a taint that it tolerates for a while',
    taints: [fire],
    tolerations: [tolerating('fire', 5)],
    expected: 5000,
  },
  { what: 'a toleration below zero', taints: [fire], tolerations: [tolerating('fire', -5)], expected: 0 },
  {
    what: 'two tolerations for a taint, of which the first counts',
    taints: [fire],
    tolerations: [tolerating('fire', 5), tolerating('fire', 1)],
    expected: 5000,
  },
  {
    what: 'two taints, of which the shorter counts',
    taints: [fire, flood],
    tolerations: [tolerating('fire', 5), tolerating('flood', 1)],
    expected: 1000,
  },
  {
    what: 'two taints and a toleration for one',
    taints: [fire, flood],
    tolerations: [tolerating('fire', 5)],
    expected: 0,
  },
])('how long a pod stays with $what', ({ taints, tolerations, expected }) => {
  expect(toleratedTimeMs({ spec: { tolerations } }, { spec: { taints } })).toBe(expected);
});
