import { driveNodeKey, drivesDriver } from '../../kube/drive.ts';
import type { DriveKind } from '../drives/drive-ask.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { changing, type RemedyEdit, type RemedyStep } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

/** The first drive of a cluster, on this node, for all volumes of the pod that need one. */
export function addDriveSteps(whatIf: WhatIf, { claim = '' }: Finding): RemedyStep[] {
  const { index, record } = whatIf;
  const isOfDrives = (className: string) => index.classes.get(className)?.provisioner === drivesDriver;
  const claims = record.claims.flatMap(({ key }) => index.claims.get(key) ?? []);
  const wanted = claims.filter(({ volumeName, className }) => volumeName === '' && isOfDrives(className));
  const inline = record.inlineVolumes.filter(({ driver }) => driver === drivesDriver);
  const sizes = [...wanted.map(({ request }) => request), ...inline.map(({ size }) => size)];
  const bytes = Math.ceil(sizes.reduce((sum, size) => sum + (size?.bytes ?? 0), 0));
  const kind =
    index.classes.get(index.claims.get(claim)?.className ?? '')?.driveClass ??
    inline.find(({ volumeName }) => claim === `${record.key}:${volumeName}`)?.drive;
  if (kind === undefined || !Number.isSafeInteger(bytes) || bytes === 0) return [];
  return [addDriveOf(whatIf, kind, bytes)];
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

/** What comes with the first drive of a node: the label that its volumes are pinned by, and the driver in the CSINode. */
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
