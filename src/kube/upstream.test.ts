import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type {
  NodeSelector,
  PersistentVolume,
  Taint,
  Toleration,
  Volume,
  VolumeNodeAffinity,
} from './api/core.ts';
import type { LabelSelector, StringMap } from './api/meta.ts';
import { type MigrationResult, migrateInlineVolume, migrateVolume } from './legacy/in-tree-migration.ts';
import { migrateNodeAffinity } from './legacy/in-tree-topology.ts';
import { compileLabelSelector, matchesLabels } from './selectors/label-selector.ts';
import { compileNodeSelector, matchesNode } from './selectors/node-selector.ts';
import { toleratesTaint } from './selectors/tolerations.ts';

/** Answers of Kubernetes itself; the README beside the file says how they were made. */
type Vector = NodeSelectorVector | LabelSelectorVector | TolerationVector | MigrationVector;

interface NodeSelectorVector {
  readonly check: 'nodeSelector';
  readonly selector: NodeSelector;
  readonly nodeName: string;
  readonly labels: StringMap;
  readonly matches: boolean;
  readonly bad: boolean;
}

interface LabelSelectorVector {
  readonly check: 'labelSelector';
  readonly selector: LabelSelector;
  readonly labels: StringMap;
  readonly matches: boolean;
  readonly bad: boolean;
}

interface TolerationVector {
  readonly check: 'toleration';
  readonly toleration: Toleration;
  readonly taint: Taint;
  readonly tolerates: boolean;
  readonly toleratesComparing: boolean;
}

interface MigrationVector {
  readonly check: 'migration';
  readonly volume: PersistentVolume;
  readonly inline: Volume;
  readonly translated: {
    readonly driver: string;
    readonly volumeHandle: string;
    readonly nodeAffinity: unknown;
  } | null;
  readonly translatedInline: { readonly driver: string; readonly volumeHandle: string } | null;
}

const vectors = readFileSync(new URL('./testing/upstream-vectors.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Vector => JSON.parse(line));

describe('agrees with Kubernetes', () => {
  test('on which nodes a node selector matches, and which selectors have bad terms', () => {
    for (const vector of vectorsOf('nodeSelector')) {
      const compiled = compileNodeSelector(vector.selector);
      const matches = matchesNode(compiled, vector.nodeName, vector.labels);
      expect({ ...vector, matches, bad: compiled.problems.length > 0 }).toEqual(vector);
    }
  });

  test('on which labels a label selector matches, and which selectors are bad', () => {
    for (const vector of vectorsOf('labelSelector')) {
      const result = compileLabelSelector(vector.selector);
      const matches = result.ok && matchesLabels(result.selector, vector.labels);
      expect({ ...vector, matches, bad: !result.ok }).toEqual(vector);
    }
  });

  test('on which taints a toleration tolerates, with and without comparisons', () => {
    for (const vector of vectorsOf('toleration')) {
      const { toleration, taint } = vector;
      const tolerates = toleratesTaint(toleration, taint);
      const toleratesComparing = toleratesTaint(toleration, taint, { comparisonOperators: true });
      expect({ ...vector, tolerates, toleratesComparing }).toEqual(vector);
    }
  });

  test('on what an in-tree disk is to CSI', () => {
    for (const vector of vectorsOf('migration')) {
      const { volume, inline } = vector;
      expect({ volume, ...sourceOf(migrateVolume(volume)) }).toEqual({
        volume,
        ...handleIn(vector.translated),
      });
      expect({ inline, ...sourceOf(migrateInlineVolume(inline)) }).toEqual({
        inline,
        ...vector.translatedInline,
      });
      if (vector.translated === null) continue;
      const affinity = withoutEmptyLists(migrateNodeAffinity(volume));
      expect({ volume, affinity }).toEqual({
        volume,
        affinity: withoutEmptyLists(vector.translated.nodeAffinity),
      });
    }
  });
});

function vectorsOf<C extends Vector['check']>(check: C): readonly Extract<Vector, { readonly check: C }>[] {
  return vectors.filter((vector): vector is Extract<Vector, { readonly check: C }> => vector.check === check);
}

function sourceOf(result: MigrationResult | undefined): object {
  return result?.ok === true
    ? { driver: result.source.driver, volumeHandle: result.source.volumeHandle }
    : {};
}

function handleIn(translated: MigrationVector['translated']): object {
  return translated === null ? {} : { driver: translated.driver, volumeHandle: translated.volumeHandle };
}

/** Go leaves empty lists out, or writes null for them; to both sides that means the same. */
function withoutEmptyLists(affinity: VolumeNodeAffinity | unknown): unknown {
  const isNothing = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  return JSON.parse(JSON.stringify(affinity ?? {}, (_key, value) => (isNothing(value) ? undefined : value)));
}
