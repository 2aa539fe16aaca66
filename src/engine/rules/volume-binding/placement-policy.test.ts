import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { annotations } from '../../../kube/well-known.ts';
import { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { packShape, stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { claim, csiClass, csiDriver, hostname, node, pod, storageCapacity } from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { volumeBindingRule } from './rule.ts';

type Placement = 'pack' | 'spread' | undefined;

function classWith(name: string, placement: string | undefined) {
  const made = csiClass('disk.csi', name);
  if (placement === undefined) return made;
  return { ...made, metadata: { ...made.metadata, annotations: { [annotations.placement]: placement } } };
}

function poolOf(at: number, size: number, className: string) {
  return storageCapacity(`${className}-n${at}`, className, {
    capacity: `${size}Gi`,
    nodeTopology: { matchLabels: { [hostname]: `n${at}` } },
  });
}

interface Scene {
  /** The free capacity of each node, in GiB, by class. */
  readonly free: readonly (readonly number[])[];
  readonly classes: readonly Placement[];
  /** The sizes in GiB and the classes of the claims. */
  readonly claims: readonly { readonly size: number; readonly of: number }[];
}

const className = (of: number) => `class-${of}`;

function objectsOf({ free, classes, claims }: Scene) {
  return {
    Node: free.map((_, at) => node(`n${at}`)),
    StorageClass: classes.map((placement, of) => classWith(className(of), placement)),
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: free.flatMap((sizes, at) =>
      sizes.map((size, of) => poolOf(at, size, className(of % classes.length))),
    ),
    PersistentVolumeClaim: claims.map(({ size, of }, at) =>
      claim(`c${at}`, `${size}Gi`, { className: className(of) }),
    ),
  };
}

function nodeFor(scene: Scene, profile = stowageProfile): string | undefined {
  const rules = [eraseState(volumeBindingRule)];
  const names = scene.claims.map((_, at) => `c${at}`);
  const answer = plan(pod('p', names), clusterOf(objectsOf(scene), profile), { nowMs: 0, rules });
  return answer.kind === 'placement' ? answer.node : undefined;
}

/** The mean over the claims of the part of its pool that the pod leaves free, or uses, as its class prefers; undefined if it does not fit. */
function goodness(sizes: readonly number[], { classes, claims }: Scene): number | undefined {
  const taken = classes.map((_, of) =>
    claims.filter((one) => one.of === of).reduce((sum, { size }) => sum + size, 0),
  );
  if (taken.some((size, of) => size > sizes[of]!)) return undefined;
  const parts = claims.map(({ of }) => {
    const used = taken[of]! / sizes[of]!;
    return classes[of] === 'pack' ? used : 1 - used;
  });
  return parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

describe('the class decides whether volumes are packed or spread', () => {
  const free = [[100], [20], [50]];
  const of = (placement: string | undefined): Scene => ({
    free,
    classes: [placement as Placement],
    claims: [{ size: 10, of: 0 }],
  });

  test('pack leaves the least free, spread the most, and the profile decides without a word', () => {
    const packed = { ...stowageProfile, scoring: { ...stowageProfile.scoring, poolShape: packShape } };
    expect(nodeFor(of('pack'))).toBe('n1');
    expect(nodeFor(of('spread'))).toBe('n0');
    expect(nodeFor(of(undefined))).toBe('n0');
    expect(nodeFor(of(undefined), packed)).toBe('n1');
    expect(nodeFor(of('spread'), packed)).toBe('n0');
  });

  test('a wrong word is reported, and the profile decides', () => {
    expect(nodeFor(of('Pack'))).toBe('n0');
    const { warnings } = new ClusterIndex().upsert('StorageClass', classWith('fast', 'Pack'));
    expect(warnings).toMatchObject([
      {
        key: 'fast',
        problem: `metadata.annotations[${annotations.placement}]: "Pack" must be one of pack, spread`,
      },
    ]);
  });

  test('kube-scheduler knows no such annotation', () => {
    expect(nodeFor(of('pack'), upstreamProfile)).toBe('n0');
  });

  test('no node is better than the chosen one by an oracle that tries each', () => {
    const scenes = fc
      .record({
        classes: fc.array(fc.constantFrom('pack', 'spread', undefined), { minLength: 1, maxLength: 3 }),
      })
      .chain(({ classes }) =>
        fc.record({
          classes: fc.constant(classes),
          free: fc.array(
            fc.array(fc.integer({ min: 1, max: 200 }), {
              minLength: classes.length,
              maxLength: classes.length,
            }),
            { minLength: 1, maxLength: 6 },
          ),
          claims: fc.array(
            fc.record({
              size: fc.integer({ min: 1, max: 60 }),
              of: fc.integer({ min: 0, max: classes.length - 1 }),
            }),
            { minLength: 1, maxLength: 4 },
          ),
        }),
      );
    fc.assert(
      fc.property(scenes, (scene) => {
        const all = scene.free.map((sizes) => goodness(sizes, scene));
        const best = Math.max(...all.map((one) => one ?? -1));
        const chosen = nodeFor(scene);
        if (best < 0) expect(chosen).toBeUndefined();
        else expect(all[Number(chosen!.slice(1))]).toBeCloseTo(best, 6);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the placement of a claim', () => {
  const nodes = [node('n0'), node('n1')];
  const annotated = (placement: string) => ({ [annotations.placement]: placement });

  function chosen(policies: {
    readonly class?: string;
    readonly namespace?: string;
    readonly claim?: string;
  }) {
    const data = claim('data', '1Gi', { className: 'c' });
    const annotations = policies.claim === undefined ? {} : { annotations: annotated(policies.claim) };
    const index = clusterOf({
      Node: nodes,
      Namespace: [
        {
          metadata: {
            name: 'default',
            ...(policies.namespace !== undefined && { annotations: annotated(policies.namespace) }),
          },
        },
      ],
      StorageClass: [classWith('c', policies.class)],
      CSIDriver: [csiDriver('disk.csi')],
      CSIStorageCapacity: [poolOf(0, 10, 'c'), poolOf(1, 20, 'c')],
      PersistentVolumeClaim: [{ ...data, metadata: { ...data.metadata, ...annotations } }],
    });
    const answer = plan(pod('p', ['data']), index, { nowMs: 0, rules: [eraseState(volumeBindingRule)] });
    return answer.kind === 'placement' ? answer.node : answer.message;
  }

  test('is its own, else that of its namespace, else that of its class', () => {
    const [small, large] = ['n0', 'n1'];
    expect(chosen({ class: 'pack' })).toBe(small);
    expect(chosen({ class: 'pack', namespace: 'spread' })).toBe(large);
    expect(chosen({ class: 'spread', namespace: 'spread', claim: 'pack' })).toBe(small);
    expect(chosen({ class: 'pack', claim: 'spread' })).toBe(large);
  });
});
