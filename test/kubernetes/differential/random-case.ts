/** Random clusters that a server takes, each with pods that ask for a node in it. */
import fc from 'fast-check';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import { compact, sometimes } from '../../../src/engine/testing/random/chance.ts';
import { arbClaim } from '../../../src/engine/testing/random/claims.ts';
import { anything, flavours } from '../../../src/engine/testing/random/flavour.ts';
import { nodeNames, rack, zones } from '../../../src/engine/testing/random/names.ts';
import { arbFewSlots } from '../../../src/engine/testing/random/slots.ts';
import { arbObjects, type RandomObjects } from '../../../src/engine/testing/random-cluster.ts';
import type { Node, PersistentVolumeClaim, Pod, Taint } from '../../../src/kube/core.ts';
import { labels } from '../../../src/kube/well-known.ts';
import { asServed, servedClaim } from './as-served.ts';
import { gpu } from './names.ts';
import { arbAskingPod, arbStandingPod, standingNames } from './random-pods.ts';
import { type Theme, themes } from './themes.ts';

export interface Case {
  readonly objects: ClusterObjects;
  readonly pods: readonly Asking[];
}

export interface Asking {
  readonly pod: Pod;
  /** Of its ephemeral volume, if it has one that somebody has made a claim for. */
  readonly cache: Cache | undefined;
}

export interface Cache {
  readonly claim: PersistentVolumeClaim;
  /** Else the claim is another's, and has the name by chance. */
  readonly isOwned: boolean;
}

const podsPerCluster = 10;

const mostlyBound = { ...anything, boundClaims: 70, volumes: 90, oddVolumes: 5 };

/** The same for the same seed. */
export function randomCase(seed: number): Case {
  return fc.sample(arbCase, { seed, numRuns: 1 })[0]!;
}

const arbCase: fc.Arbitrary<Case> = fc
  .record({
    theme: fc.constantFrom(...themes),
    storage: fc.constantFrom(...flavours.map(arbObjects), arbObjects(mostlyBound), arbFewSlots),
    names: fc
      .constantFrom(1, 1, 2, 3, 4, 6)
      .chain((count) => fc.shuffledSubarray(nodeNames, { minLength: count, maxLength: count })),
  })
  .chain(({ theme, storage, names }) => arbCaseOf(theme, storage, names));

function arbCaseOf(
  theme: Theme,
  arbStorage: fc.Arbitrary<RandomObjects>,
  names: readonly string[],
): fc.Arbitrary<Case> {
  return fc
    .record({
      storage: arbStorage,
      Node: fc.tuple(...names.map((name) => arbNode(name, theme))),
      Pod: fc
        .tuple(...standingNames.map((name) => sometimes(60, arbStandingPod(name, theme, names))))
        .map((standing) => standing.filter((pod) => pod !== undefined)),
      pods: fc.array(arbAsking(theme), { minLength: podsPerCluster, maxLength: podsPerCluster }),
    })
    .map(({ storage: { DriverCapacity: _ours, ...storage }, Node, Pod, pods }) => ({
      objects: asServed({ ...storage, Node, Pod }),
      pods,
    }));
}

function arbAsking(theme: Theme): fc.Arbitrary<Asking> {
  return fc
    .record({
      pod: arbAskingPod(theme),
      claim: sometimes(Math.round(theme.volumes / 5), arbClaim('cache')),
      fate: fc.constantFrom('owned', 'owned', 'owned', 'owned', 'another', 'missing'),
    })
    .map(({ pod, claim, fate }) => {
      if (claim === undefined) return { pod, cache: undefined };
      const cache = { claim: servedClaim(claim), isOwned: fate === 'owned' };
      return { pod: withCache(pod), cache: fate === 'missing' ? undefined : cache };
    });
}

function withCache(pod: Pod): Pod {
  const spec = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };
  const cache = { name: 'cache', ephemeral: { volumeClaimTemplate: { spec } } };
  return { ...pod, spec: { ...pod.spec, volumes: [...(pod.spec?.volumes ?? []), cache] } };
}

const arbTaints = fc.array(
  fc.constantFrom<Taint>(
    { key: 'old', value: 'yes', effect: 'NoSchedule' },
    { key: 'odd', effect: 'NoExecute' },
    { key: 'odd', effect: 'PreferNoSchedule' },
  ),
  { minLength: 1, maxLength: 1 },
);

function arbNode(name: string, theme: Theme): fc.Arbitrary<Node> {
  return fc
    .record({
      host: fc.constantFrom(name, name, name, name, name, name, name, 'n1', undefined),
      zone: sometimes(80, fc.constantFrom(...zones)),
      betaZone: sometimes(10, fc.constantFrom(...zones)),
      region: sometimes(10, fc.constantFrom('r1', 'r2')),
      rack: sometimes(50, fc.constantFrom('1', '2', '3', 'x', '')),
      ebsZone: sometimes(20, fc.constantFrom(...zones)),
      cpu: fc.constantFrom('2', '4', '4', '8', '8'),
      memory: fc.constantFrom('4Gi', '8Gi'),
      pods: fc.constantFrom('2', '4', '110', '110', '110', '110'),
      disk: sometimes(70, fc.constantFrom('4Gi', '20Gi')),
      gpus: sometimes(40, fc.constantFrom('1', '2')),
      pages: sometimes(30, fc.constant('4Mi')),
      taints: sometimes(Math.round(theme.nodes / 3), arbTaints),
      unschedulable: sometimes(Math.round(theme.nodes / 6), fc.constant(true)),
    })
    .map((random) => nodeOf(name, random));
}

type RandomNode = Readonly<Record<'cpu' | 'memory' | 'pods', string>> &
  Readonly<
    Record<
      'host' | 'zone' | 'betaZone' | 'region' | 'rack' | 'ebsZone' | 'disk' | 'gpus' | 'pages',
      string | undefined
    >
  > & { readonly taints: readonly Taint[] | undefined; readonly unschedulable: true | undefined };

function nodeOf(name: string, random: RandomNode): Node {
  const allocatable = compact({
    cpu: random.cpu,
    memory: random.memory,
    pods: random.pods,
    'ephemeral-storage': random.disk,
    [gpu]: random.gpus,
    'hugepages-2Mi': random.pages,
  });
  return {
    metadata: {
      name,
      labels: compact({
        [labels.hostname]: random.host,
        [labels.zone]: random.zone,
        [labels.betaZone]: random.betaZone,
        [labels.region]: random.region,
        [rack]: random.rack,
        'topology.ebs.csi.aws.com/zone': random.ebsZone,
      }),
    },
    spec: compact({ taints: random.taints, unschedulable: random.unschedulable }),
    status: { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
