import { driveNodeKey, drivesDriver } from '../../kube/stowage/drive.ts';
import { policyOfClaim } from '../cluster-index/pools/policies/policy-of-claim.ts';
import type { DriveKind } from '../drives/drive-requirements.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { changing, type RemedyEdit, type RemedyStep } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

/** Another drive on this node, for all volumes of the pod that need one. */
export function addDriveSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const kind = driveKindOf(whatIf, finding);
  const bytes = bytesOnDrives(whatIf);
  if (kind === undefined || !Number.isSafeInteger(bytes) || bytes === 0) return [];
  return [addDriveOf(whatIf, kind, bytes)];
}

/** The kind of drive that the volume of the finding needs; undefined if its class or driver does not use drives. */
function driveKindOf({ index, record }: WhatIf, { claim = '' }: Finding): DriveKind | undefined {
  const inline = record.inlineVolumes.find(({ volumeName }) => claim === `${record.key}:${volumeName}`);
  return index.classes.get(index.claims.get(claim)?.className ?? '')?.driveClass ?? inline?.drive;
}

/** The needs of all volumes of the pod on drives, with the part of the drive that stays free beside them. */
function bytesOnDrives({ index, record }: WhatIf): number {
  const claims = record.claims.flatMap(({ key }) => index.claims.get(key) ?? []);
  const wanted = claims.filter(
    ({ volumeName, className }) =>
      volumeName === '' && index.classes.get(className)?.provisioner === drivesDriver,
  );
  const inline = record.inlineVolumes.filter(({ driver }) => driver === drivesDriver);
  const sizes = [...wanted.map(({ request }) => request), ...inline.map(({ size }) => size)];
  const bytes = sizes.reduce((sum, size) => sum + (size?.bytes ?? 0), 0);
  const percents = wanted.map((claim) => policyOfClaim(index, claim).growthReservePercent);
  return Math.ceil((bytes * 100) / (100 - Math.min(99, Math.max(0, ...percents))));
}

/**
 * A drive of this node whose node service has never reported it. How large it is, is not known before: the step is tried with a drive that is
 * large enough, and says so.
 */
export function startNodeServiceSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const { index, node } = whatIf;
  const kind = driveKindOf(whatIf, finding);
  const row = index.nodes.row(node);
  const bytes = bytesOnDrives(whatIf);
  if (kind === undefined || row === undefined || !Number.isSafeInteger(bytes) || bytes === 0) return [];
  const entry = index.pools.driveEntry(kind);
  const silent = [...index.pools.partitionFor(entry, index.nodes.rowCount).itemsAt(row)]
    .map((at) => index.pools.record(at))
    .filter(({ drive }) => drive?.exclusion === 'NotReady' || drive?.exclusion === 'UnknownCapacity');
  const [first] = silent;
  if (first === undefined) return [];
  const report = changing('Drive', first.object, (drive) => ({
    ...drive,
    status: { ...drive.status, state: 'Ready', capacityBytes: bytes },
  }));
  return [
    {
      action: 'StartNodeService',
      scope: '',
      object: { kind: 'Node', name: node },
      amount: 1,
      unit: 'changes',
      to: bytes,
      names: [first.object],
      edits: [...registrations(whatIf), report],
    },
  ];
}

function addDriveOf(whatIf: WhatIf, kind: DriveKind, bytes: number): RemedyStep {
  const { tier, labels } = kind;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return {
    action: 'AddDrive',
    scope: '',
    object: { kind: 'Node', name: whatIf.node },
    amount: bytes,
    unit: 'bytes',
    to: bytes,
    names: [],
    remarks: [
      ...(tier === undefined ? [] : [`tier ${tier}`]),
      ...(pairs.length === 0 ? [] : [`labelled ${pairs.join(', ')}`]),
    ],
    edits: [...registrations(whatIf), newDrive(whatIf.node, kind, bytes)],
    withAmount: (other) => addDriveOf(whatIf, kind, other),
  };
}

function newDrive(nodeName: string, { tier, labels }: DriveKind, bytes: number): RemedyEdit {
  const object = {
    metadata: { name: `new-drive-of-${nodeName}`, labels },
    spec: { nodeName, volumes: [], ...(tier !== undefined && { accessTier: tier }) },
    status: { capacityBytes: bytes, state: 'Ready' },
  };
  return { type: 'create', kind: 'Drive', object };
}

/** The changes that the node service of a node makes: the label by which its volumes are pinned, and the driver in the CSINode. */
function registrations(whatIf: WhatIf): readonly RemedyEdit[] {
  const { node: name } = whatIf;
  const entry = { name: drivesDriver, nodeID: name, topologyKeys: [driveNodeKey] };
  const label = changing('Node', name, (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata?.labels, [driveNodeKey]: name } },
  }));
  const known = whatIf.get('CSINode', name);
  if (known === undefined)
    return [
      label,
      {
        type: 'create',
        kind: 'CSINode',
        object: { metadata: { name }, spec: { drivers: [entry] } } as object,
      },
    ];
  if (known.spec?.drivers?.some((driver) => driver.name === drivesDriver) === true) return [label];
  return [
    label,
    changing('CSINode', name, (object) => ({
      ...object,
      spec: { ...object.spec, drivers: [...(object.spec?.drivers ?? []), entry] },
    })),
  ];
}
