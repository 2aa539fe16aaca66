import { describe, expect, test } from 'vitest';
import {
  boundClaim,
  claim,
  driverCapacity,
  localVolume,
  storageClass,
} from '../../engine/testing/objects.ts';
import { explainTarget } from '../../queries/explain/explain-target.ts';
import type { ClaimExplanation, Explanation, PodExplanation } from '../../queries/explain/explanation.ts';
import {
  nodeWith,
  podWith,
  thousandNodes,
  threeNodes,
  twoPools,
  viewOf,
} from '../../queries/testing/cluster-views.ts';
import type { ClusterView, Target } from '../../queries/view/cluster-view.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { renderClaim } from './render-claim.ts';
import { renderPod } from './render-pod.ts';
import { exitCodeOf, nameOf } from './run.ts';

const golden = (name: string) => `./testing/golden/${name}`;

function ask(view: ClusterView, kind: Target['kind'], name: string): Explanation {
  return explainTarget(view, { kind, namespace: 'default', name }, { nowMs: 0, where: 'the test' });
}

function askPod(view: ClusterView, name: string): PodExplanation {
  return ask(view, 'pod', name) as PodExplanation;
}

function askClaim(view: ClusterView, name: string): ClaimExplanation {
  return ask(view, 'claim', name) as ClaimExplanation;
}

function textOf(explanation: Explanation, terminal: Terminal = plainTerminal, isWide = false): string {
  const options = { terminal, isWide };
  return explanation.kind === 'PodExplanation'
    ? renderPod(explanation, options)
    : renderClaim(explanation, options);
}

const narrow: Terminal = { width: 60, hasColour: false, isInteractive: true };
const colourful: Terminal = { width: 100, hasColour: true, isInteractive: true };

describe('a pod that fits nowhere', () => {
  test('is explained by node, claim and change, in lines of any width', async () => {
    const explanation = askPod(threeNodes(), 'db-0');
    await expect(textOf(explanation)).toMatchFileSnapshot(golden('refused.txt'));
    await expect(textOf(explanation, narrow)).toMatchFileSnapshot(golden('refused-narrow.txt'));
    await expect(textOf(explanation, plainTerminal, true)).toMatchFileSnapshot(golden('refused-wide.txt'));
    await expect(textOf(explanation, colourful)).toMatchFileSnapshot(golden('refused-colour.txt'));
    expect(exitCodeOf(explanation)).toBe(3);
  });

  test('keeps within a narrow terminal', () => {
    const lines = textOf(askPod(threeNodes(), 'db-0'), narrow).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  test('has a shape that programs can rely on', async () => {
    const text = JSON.stringify(askPod(threeNodes(), 'db-0'), undefined, 2);
    await expect(`${text}\n`).toMatchFileSnapshot(golden('refused-json.txt'));
  });

  test('fits on a screen with a thousand nodes', async () => {
    const text = textOf(askPod(thousandNodes(), 'big'), { ...narrow, width: 100 });
    expect(text.split('\n').length).toBeLessThan(24);
    await expect(text).toMatchFileSnapshot(golden('thousand.txt'));
  });

  test('names inline volumes as such, with the figures of the pools that came closest', () => {
    const redis = podWith('redis', '1');
    const cache = { name: 'cache', csi: { driver: 'pmem.example.com', fsSize: '40Gi' } };
    const pools = ['n1', 'n2'].map((name, at) => ({
      name,
      nodeList: [name],
      capacity: `${16 * (at + 1)}Gi`,
      measuredAt: new Date(-180_000).toISOString(),
    }));
    const capacity = driverCapacity('pmem.example.com', [{ storageClassName: '<ephemeral>', pools }]);
    const managedFields = [{ manager: 'pmem-publisher', time: '2026-01-01T00:00:00Z' }];
    const view = viewOf({
      Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
      DriverCapacity: [{ ...capacity, metadata: { ...capacity.metadata, managedFields } }],
      Pod: [{ ...redis, spec: { ...redis.spec, schedulerName: 'stowage', volumes: [cache] } }],
    });
    const text = textOf(askPod(view, 'redis'));
    expect(text).toContain(
      [
        'INLINE VOLUMES',
        '  cache (40Gi, driver pmem.example.com); closest:',
        '    pool n2: 32Gi free, needs 40Gi (seen from n2)',
        '    pool n1: 16Gi free, needs 40Gi (seen from n1)',
        '',
        'POOLS',
        '  n2 (<ephemeral>): total unknown, used 0, promised 0, free 32Gi; 3m old; published by pmem-publisher',
      ].join('\n'),
    );
    expect(text).not.toMatch(/claim/i);
  });

  test('shows what pools have free, and what of it is promised', async () => {
    await expect(textOf(askPod(twoPools(), 'web'))).toMatchFileSnapshot(golden('pools.txt'));
  });

  test('names a claim that does not exist', () => {
    const explanation = askPod(
      viewOf({ Node: [nodeWith('n1', '4')], Pod: [podWith('p', '1', ['nowhere'])] }),
      'p',
    );
    expect(explanation.summary).toBe(
      'Pod default/p cannot run anywhere: the claim does not exist (default/nowhere).',
    );
    expect(textOf(explanation)).toContain("what helps: create the claim in the pod's namespace");
    expect(exitCodeOf(explanation)).toBe(3);
  });
});

describe('a pod that has its place, or would', () => {
  test('is shown with the scores of its node and the next best', async () => {
    const view = viewOf({
      Node: [nodeWith('n1', '4'), nodeWith('n2', '8'), nodeWith('n3', '2')],
      PersistentVolume: [localVolume('pv-1', '1Gi', 'n1')],
      PersistentVolumeClaim: [boundClaim('own', '1Gi', 'pv-1')],
      StorageClass: [storageClass('local')],
      Pod: [podWith('placed', '1', [], 'n1'), podWith('rooted', '1', ['own'], 'n1'), podWith('waits', '1')],
    });
    await expect(textOf(askPod(view, 'placed'))).toMatchFileSnapshot(golden('placed.txt'));
    expect(askPod(view, 'rooted').summary).toBe(
      'Pod default/rooted is on n1, the only node that would do now.',
    );
    expect(askPod(view, 'rooted').nodes).toMatchObject({
      total: 3,
      fitting: 1,
      groups: [{ nodes: ['n2', 'n3'], reasons: [{ rule: 'VolumeBinding' }] }],
    });
    expect(textOf(askPod(view, 'rooted'))).toMatch(
      /SCORES[\s\S]*WHY NOT ELSEWHERE\n {2}n2, n3: this node cannot reach/,
    );
    expect(askPod(view, 'waits')).toMatchObject({ verdict: 'fits', placement: { node: 'n2' } });
    expect(exitCodeOf(askPod(view, 'waits'))).toBe(0);
    expect(['placed', 'rooted', 'waits'].map((name) => nameOf(askPod(view, name)))).toEqual([
      'node/n1\n',
      'node/n1\n',
      'node/n2\n',
    ]);
    expect(nameOf(askClaim(view, 'own'))).toBe('persistentvolume/pv-1\n');
  });

  test('is printed by name without characters that a terminal obeys', () => {
    const view = viewOf({
      Node: [nodeWith('n\u001b[2J\u202e1', '4')],
      PersistentVolume: [localVolume('pv\n\u001b]0;x\u0007', '1Gi', 'n1')],
      PersistentVolumeClaim: [boundClaim('own', '1Gi', 'pv\n\u001b]0;x\u0007')],
      StorageClass: [storageClass('local')],
      Pod: [podWith('placed', '1', [], 'n\u001b[2J\u202e1'), podWith('waits', '1')],
    });
    expect(nameOf(askPod(view, 'placed'))).toBe('node/n [2J 1\n');
    expect(nameOf(askPod(view, 'waits'))).toBe('node/n [2J 1\n');
    expect(nameOf(askClaim(view, 'own'))).toBe('persistentvolume/pv  ]0;x \n');
  });

  test.each<[string, Parameters<typeof podWith>, object, string, number]>([
    ['gates', ['p', '1'], { spec: { schedulingGates: [{ name: 'quota' }] } }, 'gated', 3],
    ['an end', ['p', '1'], { status: { phase: 'Succeeded' } }, 'finished', 0],
  ])('knows of %s', (_, args, more, verdict, exitCode) => {
    const pod = { ...podWith(...args), ...more };
    const explanation = askPod(viewOf({ Node: [nodeWith('n1', '4')], Pod: [pod] }), 'p');
    expect(explanation.verdict).toBe(verdict);
    expect(exitCodeOf(explanation)).toBe(exitCode);
    expect(nameOf(explanation)).toBe('');
  });

  test('has no verdict if the nodes could not be read', () => {
    const explanation = askPod(viewOf({ Pod: [podWith('p', '1')] }, { seesNodes: false }), 'p');
    expect(explanation.verdict).toBe('unknown');
    expect(exitCodeOf(explanation)).toBe(1);
  });

  test('has its own condition in the headline if the nodes could not be read', () => {
    const message = '0/3 nodes are available: 3 Insufficient cpu.';
    const status = { conditions: [{ type: 'PodScheduled', status: 'False', message }] } as const;
    const view = viewOf({ Pod: [{ ...podWith('p', '1'), status }] }, { seesNodes: false });
    expect(askPod(view, 'p').summary).toBe(
      `Pod default/p is pending, and its condition says: ${message} The nodes could not be read to check that.`,
    );
  });
});

describe('a claim', () => {
  test('that waits for a pod is explained by its pod', async () => {
    const explanation = askClaim(threeNodes(), 'data');
    expect(explanation).toMatchObject({ state: 'WaitsForScheduler', pods: [{ verdict: 'refused' }] });
    await expect(textOf(explanation)).toMatchFileSnapshot(golden('claim.txt'));
  });

  const provisioned = { provisioner: 'csi.example.com' } as const;
  const at = { volumeBindingMode: 'Immediate' } as const;

  test.each<[string, Parameters<typeof viewOf>[0], string, number]>([
    [
      'is bound',
      {
        PersistentVolumeClaim: [boundClaim('c', '1Gi', 'v')],
        PersistentVolume: [localVolume('v', '1Gi', 'n')],
      },
      'Bound',
      0,
    ],
    ['lost its volume', { PersistentVolumeClaim: [boundClaim('c', '1Gi', 'v')] }, 'Lost', 3],
    ['has no class', { PersistentVolumeClaim: [claim('c', '1Gi')] }, 'ClassMissing', 3],
    [
      'waits for any volume',
      { PersistentVolumeClaim: [claim('c', '1Gi', { className: '' })] },
      'WaitsForVolume',
      3,
    ],
    [
      'names a volume',
      { PersistentVolumeClaim: [claim('c', '1Gi', { spec: { volumeName: 'v' } })] },
      'WaitsForNamedVolume',
      3,
    ],
    [
      'has no pod',
      { PersistentVolumeClaim: [claim('c', '1Gi')], StorageClass: [storageClass('local')] },
      'WaitsForPod',
      3,
    ],
    [
      'is being made',
      {
        PersistentVolumeClaim: [claim('c', '1Gi')],
        StorageClass: [storageClass('local', { ...provisioned, ...at })],
      },
      'WaitsForProvisioner',
      3,
    ],
    [
      'is being made for a node',
      {
        PersistentVolumeClaim: [claim('c', '1Gi', { selectedNode: 'n1' })],
        StorageClass: [storageClass('local', provisioned)],
      },
      'WaitsForProvisioner',
      3,
    ],
    [
      'has a match',
      {
        PersistentVolumeClaim: [claim('c', '1Gi')],
        StorageClass: [storageClass('local', at)],
        PersistentVolume: [localVolume('v', '1Gi', 'n')],
      },
      'WaitsForBinding',
      3,
    ],
    ['cannot be read', { PersistentVolumeClaim: [claim('c', 'lots')] }, 'Malformed', 3],
  ])('that %s says so', (_, objects, state, exitCode) => {
    const explanation = askClaim(viewOf(objects), 'c');
    expect(explanation.state).toBe(state);
    expect(exitCodeOf(explanation)).toBe(exitCode);
    expect(textOf(explanation)).toContain(explanation.summary);
  });
});

describe('what is not there', () => {
  test('is said, with where it might be', () => {
    const view = threeNodes();
    expect(() => ask(view, 'pod', 'absent')).toThrow(
      'there is no pod default/absent in the test; kubectl get pods -n default lists those there are',
    );
    expect(() =>
      explainTarget(
        view,
        { kind: 'claim', namespace: 'shop', name: 'data' },
        { nowMs: 0, where: 'the test' },
      ),
    ).toThrow(
      'there is no claim shop/data in the test; there is one in namespace default; choose it with -n',
    );
  });
});
