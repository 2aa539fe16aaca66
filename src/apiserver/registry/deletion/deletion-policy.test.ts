import { describe, expect, test } from 'vitest';
import type { DeletionPropagation } from '../../../kube/api/meta.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import type { DeletionRequest } from '../registry.ts';
import { checkDeletionRequest, dependentsFinalizers } from './deletion-policy.ts';

const mine = 'x.io/mine';
const orphan = 'orphan';
const foreground = 'foregroundDeletion';

interface Scenario {
  readonly has?: readonly string[];
  readonly asks?: DeletionRequest;
  readonly kind?: Partial<ServedKind>;
  readonly keeps: readonly string[];
}

const scenarios: readonly Scenario[] = [
  { keeps: [] },
  { has: [mine], keeps: [mine] },
  { asks: { propagationPolicy: 'Foreground' }, keeps: [foreground] },
  { asks: { propagationPolicy: 'Orphan' }, keeps: [orphan] },
  { asks: { orphanDependents: true }, keeps: [orphan] },
  { has: [orphan], asks: { orphanDependents: false }, keeps: [] },
  { has: [mine], asks: { propagationPolicy: 'Foreground' }, keeps: [mine, foreground] },
  { has: [foreground, mine], asks: { propagationPolicy: 'Foreground' }, keeps: [foreground, mine] },
  { has: [foreground, mine], asks: { propagationPolicy: 'Orphan' }, keeps: [mine, orphan] },
  { has: [foreground, mine], asks: { propagationPolicy: 'Background' }, keeps: [mine] },
  { has: [orphan], keeps: [orphan] },
  { has: [foreground], keeps: [foreground] },
  { kind: { orphansByDefault: true }, keeps: [orphan] },
  { kind: { orphansByDefault: true }, asks: { propagationPolicy: 'Background' }, keeps: [] },
  { kind: { orphansByDefault: true }, has: [foreground], keeps: [foreground] },
  { kind: { hasNoDependents: true }, asks: { propagationPolicy: 'Foreground' }, keeps: [] },
];

describe('finalizers for dependents', () => {
  test.each(scenarios)('$kind with $has, asked $asks: $keeps', ({ has, asks = {}, kind = {}, keeps }) => {
    const metadata = has === undefined ? {} : { finalizers: [...has] };
    const object: StoredObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    expect(dependentsFinalizers(kind as ServedKind, object, asks)).toEqual(keeps);
    expect(object.metadata).toEqual(metadata);
  });
});

describe('invalid options', () => {
  test.each([
    [
      { propagationPolicy: 'Orphan', orphanDependents: true } as const,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      { propagationPolicy: 'Sideways' as DeletionPropagation },
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
  ])('%j', (request, sentence) => {
    expect(() => checkDeletionRequest(request)).toThrow(sentence);
  });
});
