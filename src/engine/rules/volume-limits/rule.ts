/**
 * A node attaches a limited number of volumes of each CSI driver. The distinct volumes of its pods and of its VolumeAttachments count; a
 * volume that is already there needs no slot.
 *
 * With `limitChosenVolumes` this rule counts only volumes that the pod already has. It leaves unbound claims to the binding rule, which
 * knows which volumes they will get. Otherwise every unbound claim counts for its class's provisioner, as in kube-scheduler.
 */

import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { unlimited } from '../../cluster-index/volumes/attach-table.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnClaimChange } from '../wake-conditions/own-claim.ts';
import { AttachDemand, attachFindings, limitsAnything } from './attach-demand.ts';
import { attachmentsDiffer, driversMayHelp } from './attach-wakes.ts';

interface LimitState {
  readonly claims: readonly ClaimRecord[];
  /** Drivers that any of the pod's volumes may count for. */
  readonly drivers: readonly string[];
}

const attachLimitBit = 1;
const notInstalledBit = 2;

export const volumeLimitsRule: Rule<LimitState> = {
  name: 'NodeVolumeLimits',
  reasons: ['AttachLimitReached', 'DriverNotInstalled'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates,
};

function prepare({ index, pod }: Cycle): Prepared<LimitState> {
  if (!limitsAnything(index)) return skip;
  const claims = pod.claims
    .map(({ key }) => index.claims.get(key))
    .filter((claim) => claim !== undefined)
    .filter((claim) => claim.volumeName !== '' || !index.profile.limitChosenVolumes);
  if (claims.length === 0 && pod.migratedVolumes.length === 0) return skip;
  return { kind: 'ready', state: { claims, drivers: driversOf(index, claims) } };
}

/** An in-tree volume counts for its CSI driver. */
function driversOf(index: ClusterIndex, claims: readonly ClaimRecord[]): string[] {
  const drivers = new Set<string>();
  for (const claim of claims) {
    const volume = index.volumes.get(claim.volumeName);
    if (volume?.csi !== undefined) drivers.add(volume.csi.driver);
    if (volume?.migrated !== undefined) drivers.add(volume.migrated.driver);
    const storageClass = index.classes.get(claim.className);
    if (volume === undefined && storageClass?.canProvision === true)
      drivers.add(csiDriverForProvisioner(storageClass.provisioner) ?? storageClass.provisioner);
  }
  return [...drivers];
}

function filter(state: LimitState, cycle: Cycle): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  const columns = state.drivers.map((driver) => cycle.index.attachments.slots(driver));
  const isPlain = isPlainCount(cycle);
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    // Volumes are counted by handle only if the number of claims alone does not fit.
    if (isPlain && columns.every((slots) => slots[node] === unlimited || slots[node]! >= state.claims.length))
      continue;
    const nodeName = cycle.index.nodes.record(node)!.key;
    const demand = demandAt(cycle, state, nodeName);
    const missing = demand.missingDriver(nodeName);
    if (missing !== undefined) cycle.note(node, missing);
    const verdict =
      (demand.shortage(nodeName) === undefined ? 0 : attachLimitBit) |
      (missing === undefined ? 0 : notInstalledBit);
    if (verdict !== 0) cycle.reject(node, verdict);
  }
}

/** Whether only the number of claims matters: no inline in-tree volumes, and no drivers that must be installed. */
function isPlainCount({ index, pod }: Cycle): boolean {
  return pod.migratedVolumes.length === 0 && !index.hasRequiredDrivers;
}

function demandAt({ index, pod }: Cycle, { claims }: LimitState, nodeName: string): AttachDemand {
  const demand = new AttachDemand(index);
  for (const claim of claims) demand.add(index.attachments.volumeOfClaim(claim, nodeName));
  for (const inline of index.attachments.inlineVolumes(pod, nodeName)) demand.add(inline);
  return demand;
}

function explain(state: LimitState, cycle: Cycle, node: number): readonly Finding[] {
  const nodeName = cycle.index.nodes.record(node)!.key;
  return attachFindings(volumeLimitsRule.name, demandAt(cycle, state, nodeName), nodeName);
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'CSINode':
      return driversMayHelp(interest, change.before, change.after);
    case 'PersistentVolumeClaim':
      return isOwnClaimChange(interest, change) || attachmentsDiffer(interest, change);
    case 'PersistentVolume':
      return (
        interest.volumeNames.has((change.after ?? change.before)!.key) || attachmentsDiffer(interest, change)
      );
    case 'Node':
      return change.before === undefined;
    case 'CSIDriver':
      return (
        mustBeInstalled(change.before) &&
        !mustBeInstalled(change.after) &&
        interest.drivers.has(change.before!.key)
      );
    case 'Release':
      return true;
    default:
      return attachmentsDiffer(interest, change);
  }
}

function mustBeInstalled(driver: DriverRecord | undefined): boolean {
  return driver?.refusesNodesWithoutIt === true;
}

function invalidates(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'CSINode':
    case 'Node':
      return true;
    case 'PersistentVolumeClaim':
      return (
        interest.claimKeys.has((change.after ?? change.before)!.key) || attachmentsDiffer(interest, change)
      );
    case 'CSIDriver':
      return interest.drivers.has((change.after ?? change.before)!.key);
    default:
      return wakes(interest, change);
  }
}
