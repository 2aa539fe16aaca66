import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/meta.ts';
import { normaliseLegacyNames } from './legacy-names.ts';

const selectedNode = 'volume.kubernetes.io/selected-node';
const alphaSelectedNode = 'volume.alpha.kubernetes.io/selected-node';
const proposedSelectedNode = 'volume.alpha.kubernetes.io/selectedNode';
const alphaNodeAffinity = 'volume.alpha.kubernetes.io/node-affinity';

const required = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['east'] }] }],
};
const affinityJson = JSON.stringify({ requiredDuringSchedulingIgnoredDuringExecution: required });

describe('an old name is replaced by the current name:', () => {
  test.each<[string, object, object, readonly string[]]>([
    [
      'metadata.Name',
      { kind: 'PersistentVolume', metadata: { Name: 'pv-1', labels: { a: 'b' } } },
      { kind: 'PersistentVolume', metadata: { name: 'pv-1', labels: { a: 'b' } } },
      ['metadata.Name: read as metadata.name, its name today; rename it'],
    ],
    [
      'bindingMode of a class',
      { kind: 'StorageClass', bindingMode: 'WaitForFirstConsumer', provisioner: 'x' },
      { kind: 'StorageClass', volumeBindingMode: 'WaitForFirstConsumer', provisioner: 'x' },
      ['bindingMode: read as volumeBindingMode, its name today; rename it'],
    ],
    [
      'capacityTracking of a CSI driver',
      { kind: 'CSIDriver', spec: { capacityTracking: true, attachRequired: false } },
      { kind: 'CSIDriver', spec: { storageCapacity: true, attachRequired: false } },
      ['spec.capacityTracking: read as spec.storageCapacity, its name today; rename it'],
    ],
    ...[alphaSelectedNode, proposedSelectedNode].map((key): [string, object, object, string[]] => [
      `${key} of a claim`,
      annotated('PersistentVolumeClaim', { [key]: 'node-1', other: 'x' }),
      annotated('PersistentVolumeClaim', { [selectedNode]: 'node-1', other: 'x' }),
      [
        `metadata.annotations.${key}: read as metadata.annotations.${selectedNode}, its name today; rename it`,
      ],
    ]),
    [
      'the node affinity of a volume in an annotation',
      {
        ...annotated('PersistentVolume', { [alphaNodeAffinity]: affinityJson }),
        spec: { capacity: { storage: '1Gi' } },
      },
      {
        ...annotated('PersistentVolume', {}),
        spec: { capacity: { storage: '1Gi' }, nodeAffinity: { required } },
      },
      [
        `metadata.annotations.${alphaNodeAffinity}: read as spec.nodeAffinity.required, its name today; rename it`,
      ],
    ],
    [
      'an affinity that requires nothing',
      annotated('PersistentVolume', { [alphaNodeAffinity]: '{}' }),
      annotated('PersistentVolume', {}),
      [
        `metadata.annotations.${alphaNodeAffinity}: read as spec.nodeAffinity.required, its name today; rename it`,
      ],
    ],
  ])('%s', (_name, object, expected, notices) => {
    expect(normaliseLegacyNames(object)).toEqual({ object: expected, notices });
  });

  test('several in one object', () => {
    const claim = { metadata: { Name: 'data', annotations: { [alphaSelectedNode]: 'node-1' } } };
    const { object, notices } = normaliseLegacyNames<KubeObject>(claim as KubeObject);
    expect(object).toEqual({ metadata: { name: 'data', annotations: { [selectedNode]: 'node-1' } } });
    expect(notices).toHaveLength(2);
  });
});

describe('if both names are present, the newer one has precedence:', () => {
  test.each<[string, object, object]>([
    ['metadata.name', { metadata: { Name: 'old', name: 'new' } }, { metadata: { name: 'new' } }],
    [
      'volumeBindingMode',
      { kind: 'StorageClass', bindingMode: 'Immediate', volumeBindingMode: 'WaitForFirstConsumer' },
      { kind: 'StorageClass', volumeBindingMode: 'WaitForFirstConsumer' },
    ],
    [
      'storageCapacity',
      { kind: 'CSIDriver', spec: { capacityTracking: true, storageCapacity: false } },
      { kind: 'CSIDriver', spec: { storageCapacity: false } },
    ],
    [
      'selected-node',
      annotated('PersistentVolumeClaim', { [alphaSelectedNode]: 'old', [selectedNode]: 'new' }),
      annotated('PersistentVolumeClaim', { [selectedNode]: 'new' }),
    ],
    [
      'spec.nodeAffinity',
      {
        ...annotated('PersistentVolume', { [alphaNodeAffinity]: '{}' }),
        spec: { nodeAffinity: { required } },
      },
      { ...annotated('PersistentVolume', {}), spec: { nodeAffinity: { required } } },
    ],
  ])('%s', (_name, object, expected) => {
    const result = normaliseLegacyNames(object);
    expect(result.object).toEqual(expected);
    expect(result.notices).toEqual([expect.stringContaining('ignored, because')]);
  });

  test('of two old annotations the newer one', () => {
    const claim = annotated('PersistentVolumeClaim', {
      [proposedSelectedNode]: 'oldest',
      [alphaSelectedNode]: 'old',
    });
    const { object, notices } = normaliseLegacyNames(claim);
    expect(object).toEqual(annotated('PersistentVolumeClaim', { [selectedNode]: 'old' }));
    expect(notices).toHaveLength(2);
  });
});

describe('a node affinity that cannot be read ties the volume to no node:', () => {
  test.each(['{', '7', 'null', '[]', '{"requiredDuringSchedulingIgnoredDuringExecution": 7}', 7])(
    '%s',
    (text) => {
      const { object, notices } = normaliseLegacyNames(
        annotated('PersistentVolume', { [alphaNodeAffinity]: text }),
      );
      const nodeAffinity = { required: { nodeSelectorTerms: [] } };
      expect(object).toEqual({ ...annotated('PersistentVolume', {}), spec: { nodeAffinity } });
      expect(notices).toEqual([expect.stringContaining('is not the JSON of a node affinity')]);
    },
  );
});

describe('the same object is returned', () => {
  test.each<[string, object]>([
    [
      'where all names are of today',
      annotated('PersistentVolume', { 'pv.kubernetes.io/provisioned-by': 'x' }),
    ],
    ['where nothing is in it', {}],
    ['for our own DriverCapacity', { kind: 'DriverCapacity', spec: { capacityTracking: true } }],
    ['for a CSIDriver without its kind, which could be ours', { spec: { capacityTracking: true } }],
    ['for bindingMode on another kind', { kind: 'Widget', bindingMode: 'tight' }],
    ['for the annotation of claims on another kind', annotated('Pod', { [alphaSelectedNode]: 'node-1' })],
    ['for the annotation of volumes on another kind', annotated('Node', { [alphaNodeAffinity]: '{}' })],
    ['for metadata that is text', { metadata: 'pv-1' }],
    ['for annotations that are a list', { metadata: { annotations: [] } }],
  ])('%s', (_name, object) => {
    const result = normaliseLegacyNames(object as KubeObject);
    expect(result.object).toBe(object);
    expect(result.notices).toEqual([]);
  });

  test.each([[undefined], [null], ['text'], [7]])('for %s', (value) => {
    expect(normaliseLegacyNames(value as unknown as KubeObject).object).toBe(value);
  });
});

test('the given object is not changed', () => {
  const claim = annotated('PersistentVolumeClaim', { [alphaSelectedNode]: 'node-1' });
  const copy = structuredClone(claim);
  normaliseLegacyNames(claim);
  expect(claim).toEqual(copy);
});

function annotated(kind: string, annotations: object): KubeObject {
  return { kind, metadata: { annotations: { ...annotations } } };
}
