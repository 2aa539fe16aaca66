import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { CSINode, StorageClass } from '../../kube/api/storage.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations, labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { changing, type RemedyStep, volumeBesideProvisionerCost } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

/** All claims of the pod that still need a volume: if they compete, a change to any of them may help. */
export function wantedClaims({ index, record }: WhatIf): ClaimRecord[] {
  return record.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    return claim === undefined || claim.volumeName !== '' ? [] : [claim];
  });
}

/** A claim of the pod that still needs a volume; undefined for inline volumes and claims that have one. */
export function wantedClaim({ index }: WhatIf, { claim }: Finding): ClaimRecord | undefined {
  const record = claim === undefined ? undefined : index.claims.get(claim);
  return record === undefined || record.volumeName !== '' ? undefined : record;
}

/**
 * A volume that is exactly what the claim requests, on this node. A smaller one may be enough, if another claim of the pod can use it. Volumes
 * on local drives are not made by hand: a PersistentVolume without an entry in a ledger would have no bytes.
 */
export function createVolumeSteps(whatIf: WhatIf, claim: ClaimRecord): RemedyStep[] {
  if (whatIf.index.classes.get(claim.className)?.provisioner === drivesDriver) return [];
  const object = whatIf.get('PersistentVolumeClaim', claim.key);
  const node = whatIf.get('Node', whatIf.node);
  const bytes = Math.ceil(claim.request?.bytes ?? 0);
  if (object === undefined || node === undefined || !Number.isSafeInteger(bytes)) return [];
  const name = freeName(whatIf, `for-${claim.name}`);
  const hasProvisioner = whatIf.index.classes.get(claim.className)?.canProvision === true;
  return [createVolumeOf({ name, claim, object, node, hasProvisioner }, bytes)];
}

function freeName({ index }: WhatIf, wanted: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (index.volumes.get(name) === undefined) return name;
  }
}

interface NewVolume {
  readonly name: string;
  readonly claim: ClaimRecord;
  readonly object: PersistentVolumeClaim;
  readonly node: Node;
  readonly hasProvisioner: boolean;
}

function createVolumeOf(what: NewVolume, bytes: number): RemedyStep {
  const { claim, name, hasProvisioner } = what;
  return {
    action: 'CreateVolume',
    scope: '',
    object: { kind: 'PersistentVolume', name },
    amount: bytes,
    unit: 'bytes',
    to: bytes,
    names: [claim.className],
    remarks: volumeRemarks(what),
    ...(hasProvisioner && { extraCost: volumeBesideProvisionerCost }),
    edits: [{ type: 'create', kind: 'PersistentVolume', object: newVolume(what, bytes) }],
    withAmount: (other) => createVolumeOf(what, other),
  };
}

/** The volume's requirements besides its size and class, if they differ from the defaults. */
function volumeRemarks({ claim, object }: NewVolume): string[] {
  const { accessModes, volumeMode, volumeAttributesClassName } = object.spec ?? {};
  const modes = nonNullItems(accessModes).join(', ');
  const labels = Object.entries(labelsFor(claim)).map(([key, value]) => `${key}=${value}`);
  return [
    ...(modes === '' || modes === 'ReadWriteOnce' ? [] : [`access mode ${modes}`]),
    ...(volumeMode === 'Block' ? ['volume mode Block'] : []),
    ...(volumeAttributesClassName ? [`attributes class ${volumeAttributesClassName}`] : []),
    ...(labels.length === 0 ? [] : [`labelled ${labels.join(', ')}`]),
  ];
}

function newVolume({ name, claim, object, node }: NewVolume, bytes: number): PersistentVolume {
  const { accessModes, volumeMode, volumeAttributesClassName } = object.spec ?? {};
  const hostname = node.metadata?.labels?.[wellKnownLabels.hostname];
  return {
    metadata: { name, uid: name, labels: labelsFor(claim) },
    spec: {
      capacity: { storage: String(bytes) },
      accessModes: accessModes ?? [],
      storageClassName: claim.className,
      ...(volumeMode && { volumeMode }),
      ...(volumeAttributesClassName && { volumeAttributesClassName }),
      ...(hostname !== undefined && { nodeAffinity: { required: onHost(hostname) } }),
    },
    status: { phase: 'Available' },
  };
}

function onHost(hostname: string) {
  const expression = { key: wellKnownLabels.hostname, operator: 'In', values: [hostname] } as const;
  return { nodeSelectorTerms: [{ matchExpressions: [expression] }] };
}

/** Labels that match the claim's selector. */
function labelsFor({ selector }: ClaimRecord): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { key, operator, values } of selector?.requirements ?? []) {
    const [value] = values;
    if (operator === 'In' && value !== undefined) labels[key] = value;
    if (operator === 'Exists') labels[key] = 'true';
  }
  return labels;
}

/** Volumes that would fit without the reference to their last claim, which no longer exists. Volumes that will be deleted are left out. */
export function clearClaimRefSteps(whatIf: WhatIf, { candidates }: Finding): RemedyStep[] {
  return candidates
    .filter(
      ({ kind, obstacles }) =>
        kind === 'volume' && obstacles.length === 1 && obstacles[0]!.code === 'ClaimedByOther',
    )
    .filter(({ name }) => isLeftBehind(whatIf, name))
    .map(({ name }) => ({
      action: 'ClearClaimRef',
      scope: '',
      object: { kind: 'PersistentVolume', name },
      amount: 1,
      unit: 'changes',
      names: [],
      edits: [changing('PersistentVolume', name, withoutClaim)],
    }));
}

/**
 * Only the phase Released is proof: a claim that is not in the index may be invisible to us, or not created yet and have the volume reserved.
 */
function isLeftBehind(whatIf: WhatIf, name: string): boolean {
  const { index } = whatIf;
  const volume = index.volumes.get(name);
  if (volume?.claim === undefined || volume.phase !== 'Released') return false;
  if (index.volumes.holderOf(name) !== undefined) return false;
  const { persistentVolumeReclaimPolicy: policy = 'Retain' } =
    whatIf.get('PersistentVolume', name)?.spec ?? {};
  const claim = index.claims.get(volume.claim.claimKey);
  return policy === 'Retain' && (claim === undefined || volume.claim.uid !== claim.uid);
}

function withoutClaim(volume: PersistentVolume): PersistentVolume {
  const { claimRef: _, ...spec } = volume.spec ?? {};
  return { ...volume, spec, status: { ...volume.status, phase: 'Available' } };
}

/** Lowers the request to almost nothing; the search then finds the largest request that fits. */
export function shrinkClaimSteps({ record }: WhatIf, claim: ClaimRecord): RemedyStep[] {
  const asked = Math.ceil(claim.request?.bytes ?? 0);
  const isEphemeral = record.claims.some(({ key, isEphemeral: is }) => key === claim.key && is);
  const usable = Number.isSafeInteger(asked) && asked > 1;
  return usable ? [shrinkClaimBy({ key: claim.key, asked, isEphemeral }, asked - 1)] : [];
}

interface Shrinking {
  readonly key: string;
  readonly asked: number;
  readonly isEphemeral: boolean;
}

function shrinkClaimBy(what: Shrinking, amount: number): RemedyStep {
  const { key, asked } = what;
  const to = asked - amount;
  const change = (claim: PersistentVolumeClaim): PersistentVolumeClaim => ({
    ...claim,
    spec: { ...claim.spec, resources: { requests: { storage: String(to) } } },
  });
  return {
    action: 'ShrinkClaim',
    scope: key,
    object: { kind: 'PersistentVolumeClaim', name: key },
    amount,
    unit: 'bytes',
    from: asked,
    to,
    names: what.isEphemeral ? ['ephemeral'] : [],
    edits: [changing('PersistentVolumeClaim', key, change)],
    withAmount: (other) => shrinkClaimBy(what, other),
  };
}

/** Removes the node that the claim's volume is being provisioned for. */
export function unpinClaimSteps({ index }: WhatIf, claim: ClaimRecord): RemedyStep[] {
  if (!claim.hasSelectedNode) return [];
  const isThere = index.nodes.row(claim.selectedNode) !== undefined;
  return [
    {
      action: 'UnpinClaim',
      scope: '',
      object: { kind: 'PersistentVolumeClaim', name: claim.key },
      amount: 1,
      unit: 'changes',
      names: [claim.selectedNode],
      remarks: isThere ? ['the provisioner may already be creating a volume there'] : [],
      edits: [changing('PersistentVolumeClaim', claim.key, withoutSelectedNode)],
    },
  ];
}

function withoutSelectedNode(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { [annotations.selectedNode]: _, ...others } = claim.metadata?.annotations ?? {};
  return { ...claim, metadata: { ...claim.metadata, annotations: others } };
}

/** Adds the node's topology to the class, with the label keys that the class already uses. */
export function allowTopologySteps(whatIf: WhatIf, { className }: ClaimRecord): RemedyStep[] {
  const storageClass = whatIf.get('StorageClass', className);
  const labels = whatIf.get('Node', whatIf.node)?.metadata?.labels ?? {};
  const [first] = nonNullItems(storageClass?.allowedTopologies);
  const keys = nonNullItems(first?.matchLabelExpressions).map(({ key }) => textOf(key));
  if (keys.length === 0 || keys.some((key) => labels[key] === undefined)) return [];
  const term = { matchLabelExpressions: keys.map((key) => ({ key, values: [labels[key]!] })) };
  const change = (object: StorageClass): StorageClass => ({
    ...object,
    allowedTopologies: [...nonNullItems(object.allowedTopologies), term],
  });
  return [
    {
      action: 'AllowTopology',
      scope: '',
      object: { kind: 'StorageClass', name: className },
      amount: 1,
      unit: 'changes',
      names: keys.map((key) => `${key}=${labels[key]}`),
      edits: [changing('StorageClass', className, change)],
    },
  ];
}

/** Installs every required driver of the pod's volumes that the node lacks. */
export function installDriverSteps(whatIf: WhatIf): RemedyStep[] {
  const { index, node, record } = whatIf;
  const installed = index.nodes.drivers(node)?.limits;
  const drivers = record.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    const driver =
      index.volumes.get(claim?.volumeName ?? '')?.csi?.driver ??
      index.classes.get(claim?.className ?? '')?.provisioner;
    const isNeeded = driver !== undefined && index.drivers.get(driver)?.refusesNodesWithoutIt === true;
    return isNeeded && installed?.has(driver) !== true ? [driver] : [];
  });
  const names = [...new Set(drivers)];
  const added = names.map((name) => ({ name, nodeID: node }));
  const object: CSINode = whatIf.get('CSINode', node) ?? { metadata: { name: node } };
  const after: CSINode = { ...object, spec: { drivers: [...nonNullItems(object.spec?.drivers), ...added] } };
  if (names.length === 0) return [];
  return [
    {
      action: 'InstallDriver',
      scope: '',
      object: { kind: 'Node', name: node },
      amount: names.length,
      unit: 'changes',
      names,
      edits: [{ type: 'create', kind: 'CSINode', object: after }],
    },
  ];
}
