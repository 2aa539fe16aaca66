import type { Node } from '../../../../kube/api/stored/core.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { roundToMilli } from '../resources/resource-list.ts';
import { nodeColumns, nodeRow } from './node-table.ts';
import { validateNode, validateNodeUpdate } from './node-validation.ts';

export const nodeKind: ServedKind<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  namespaced: false,
  type: 'core/v1.Node',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: false,

  defaults(node) {
    const { status } = node;
    if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity };
    roundToMilli(status.capacity);
    roundToMilli(status.allocatable);
    syncPodCidr(node);
  },
  /** Keeps the status, unlike other kinds: the kubelet registers its node together with its status. */
  prepareCreate(node) {
    delete node.spec.configSource;
    delete node.status.config;
  },
  prepareUpdate(node, old) {
    node.status = old.status;
    if (old.spec.configSource === undefined) delete node.spec.configSource;
  },
  prepareStatus(node, old) {
    node.spec = old.spec;
    if (old.status.config === undefined) delete node.status.config;
  },
  validate: validateNode,
  validateUpdate(node, old, errors) {
    validateNode(node, errors);
    validateNodeUpdate(node, old, errors);
  },
  validateStatus: validateNodeUpdate,
  warnings: ({ spec }) =>
    spec.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : [],

  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable === true) },
  columns: nodeColumns,
  row: nodeRow,
};

/** Keeps `podCIDR` equal to the first of `podCIDRs`. If they differ, the older field, `podCIDR`, wins. */
function syncPodCidr({ spec }: Node): void {
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR];
  else if (first) spec.podCIDR = first;
}
