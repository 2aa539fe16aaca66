import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  Node,
  NodeSelector,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Taint,
  Toleration,
} from './api/core.ts';
import type { Condition, KubeObject, LabelSelector } from './api/meta.ts';
import type { CSINode, StorageClass } from './api/storage.ts';
import { getCondition, setCondition } from './conditions.ts';
import {
  csiDriverForProvisioner,
  migratedPlugins,
  migrateInlineVolume,
  migrateVolume,
} from './legacy/in-tree-migration.ts';
import { migrateNodeAffinity } from './legacy/in-tree-topology.ts';
import { normaliseLegacyNames } from './legacy/legacy-names.ts';
import { controllerOf, isControlledBy } from './owner-references.ts';
import { parseQuantity } from './quantities/quantity.ts';
import { compileLabelSelector, matchesLabels } from './selectors/label-selector.ts';
import { compileNodeSelector, matchesNode } from './selectors/node-selector.ts';
import { findUntoleratedTaint, toleratesTaint } from './selectors/tolerations.ts';
import { compileTopologySelector } from './selectors/topology-selector.ts';
import * as volumes from './volumes.ts';

/** Whatever the type says, a value may be anything here. */
function pretend<T>(value: unknown): T {
  return value as T;
}

/** Objects that look right from afar: known names, with anything or the right thing behind them. */
const lookalikes = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.anything({ maxDepth: 1 }),
    tie('text'),
    tie('object'),
    tie('list'),
  ),
  text: fc.constantFrom(
    'In',
    'NotIn',
    'Exists',
    'Gt',
    'zone',
    'a',
    '',
    '1',
    '10Gi',
    'metadata.name',
    '{"a":',
    'Equal',
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(
    fc.constantFrom(
      ...'metadata spec status labels annotations nodeAffinity required nodeSelectorTerms matchExpressions'.split(
        ' ',
      ),
      ...'matchFields matchLabels key operator values ownerReferences controller uid name Name namespace'.split(
        ' ',
      ),
      ...'claimRef volumeName storageClassName provisioner bindingMode capacityTracking effect value type'.split(
        ' ',
      ),
      ...'gcePersistentDisk awsElasticBlockStore azureDisk cinder volumeID pdName matchLabelExpressions kind'.split(
        ' ',
      ),
      'volume.alpha.kubernetes.io/node-affinity',
      'volume.alpha.kubernetes.io/selected-node',
      'topology.kubernetes.io/zone',
      'storage.alpha.kubernetes.io/migrated-plugins',
      'pv.kubernetes.io/bind-completed',
    ),
    tie('value'),
    { maxKeys: 5 },
  ),
})).value;

const functions: Readonly<Record<string, (value: unknown, other: unknown) => unknown>> = {
  parseQuantity: (value) => parseQuantity(value),
  compileLabelSelector: (value, labels) => {
    const result = compileLabelSelector(pretend<LabelSelector>(value));
    return result.ok ? matchesLabels(result.selector, pretend(labels)) : result.problem.length;
  },
  compileNodeSelector: (value, labels) =>
    matchesNode(compileNodeSelector(pretend<NodeSelector>(value)), 'node-1', pretend(labels)),
  compileTopologySelector: (value) => compileTopologySelector(pretend(value))?.problems,
  findUntoleratedTaint: (value, other) =>
    findUntoleratedTaint(pretend(value), pretend(other), ['NoSchedule']),
  toleratesTaint: (value, other) => toleratesTaint(pretend<Toleration>(value), pretend<Taint>(other)),
  getCondition: (value) => getCondition(pretend<readonly Condition[]>(value), 'Ready'),
  setCondition: (value) =>
    setCondition(pretend<readonly Condition[]>(value), { type: 'Ready', status: 'True' }, ''),
  controllerOf: (value) => controllerOf(pretend<Pod>(value)),
  isControlledBy: (value, other) => isControlledBy(pretend<Pod>(value), pretend<Node>(other)),
  normaliseLegacyNames: (value) => normaliseLegacyNames(pretend<KubeObject>(value)).notices,
  migrateVolume: (value) => migrateVolume(pretend<PersistentVolume>(value)),
  migrateInlineVolume: (value) => migrateInlineVolume(pretend(value)),
  migrateNodeAffinity: (value) => migrateNodeAffinity(pretend<PersistentVolume>(value)),
  migratedPlugins: (value) => migratedPlugins(pretend<CSINode>(value)),
  csiDriverForProvisioner: (value) => csiDriverForProvisioner(pretend<string>(value)),
  claimClassName: (value) => volumes.claimClassName(pretend<PersistentVolumeClaim>(value)),
  volumeClassName: (value) => volumes.volumeClassName(pretend<PersistentVolume>(value)),
  claimHasClass: (value) => volumes.claimHasClass(pretend<PersistentVolumeClaim>(value)),
  isFullyBound: (value) => volumes.isFullyBound(pretend<PersistentVolumeClaim>(value)),
  isClaimRefTo: (value, other) => volumes.isClaimRefTo(pretend(value), pretend<PersistentVolumeClaim>(other)),
  volumeModeOf: (value) => volumes.volumeModeOf(pretend<PersistentVolume>(value)),
  volumeNodeSelector: (value) => volumes.volumeNodeSelector(pretend<PersistentVolume>(value)),
  isDelayedBinding: (value) => volumes.isDelayedBinding(pretend<StorageClass>(value)),
  canProvision: (value) => volumes.canProvision(pretend<StorageClass>(value)),
};

describe('no value makes it throw:', () => {
  test.each(Object.entries(functions))('%s', (_name, call) => {
    fc.assert(
      fc.property(lookalikes, lookalikes, (value, other) => {
        expect(() => call(value, other)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});
