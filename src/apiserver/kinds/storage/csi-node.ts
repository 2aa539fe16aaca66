import type { CSINode, CSINodeDriver } from '../../../kube/api/stored/storage.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { immutableMessage } from '../../validation/immutable.ts';
import { nameRules, qualifiedNameProblems } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { checkCsiDriverName } from '../core/volumes/sources/node-sources.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const csiNodeKind: ServedKind<CSINode> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  singular: 'csinode',
  namespaced: false,
  type: 'storage.k8s.io/v1.CSINode',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: false,
  hasGeneration: false,
  requiresResourceVersion: true,

  validate: checkNode,
  validateUpdate: (node, old, errors) => {
    checkNode(node, errors);
    for (const oldDriver of old.spec.drivers ?? []) {
      const driver = node.spec.drivers?.find(({ name }) => name === oldDriver.name);
      if (driver !== undefined) checkDriverUpdate(errors, driver, oldDriver);
    }
  },

  columns: [nameColumn, { name: 'Drivers', type: 'integer' }, ageColumn],
  row: (node, context) => [node.metadata.name ?? '', (node.spec.drivers ?? []).length, age(node, context)],
};

const nodeIdBytesMax = 256;

function checkNode({ spec }: CSINode, errors: FieldErrors): void {
  const seen = new Set<string>();
  spec.drivers?.forEach((driver, index) => {
    const field = `spec.drivers[${index}]`;
    checkDriver(errors, field, driver);
    if (seen.has(driver.name)) errors.duplicate(`${field}.name`, driver.name);
    seen.add(driver.name);
    checkTopologyKeys(errors, field, driver.topologyKeys ?? []);
  });
}

function checkDriver(errors: FieldErrors, field: string, driver: CSINodeDriver): void {
  const { nodeID, allocatable } = driver;
  checkCsiDriverName(errors, `${field}.name`, driver.name);
  if (nodeID === '') errors.required(`${field}.nodeID`);
  if (utf8Length(nodeID) > nodeIdBytesMax) {
    errors.invalid(`${field}.nodeID`, nodeID, `must be ${nodeIdBytesMax} characters or less`);
  }
  if (allocatable?.count !== undefined) {
    checkNonNegative(errors, `${field}.allocatable.count`, allocatable.count);
  }
}

function checkTopologyKeys(errors: FieldErrors, field: string, keys: readonly string[]): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === '') errors.required(field);
    if (seen.has(key)) errors.duplicate(field, key);
    seen.add(key);
    errors.invalidFor(field, key, qualifiedNameProblems(key));
  }
}

/** The number of volumes that a node can attach may change; the rest of a driver is immutable. */
function checkDriverUpdate(errors: FieldErrors, driver: CSINodeDriver, old: CSINodeDriver): void {
  if (isSemanticallyEqual({ ...driver, allocatable: undefined }, { ...old, allocatable: undefined })) return;
  // As kube-apiserver prints it in errors: with Go field names.
  const shown = {
    Name: driver.name,
    NodeID: driver.nodeID,
    TopologyKeys: driver.topologyKeys,
    Allocatable: null,
  };
  errors.invalid('spec.drivers', shown, immutableMessage);
}
