import type { NodeReason } from '../reasons.ts';

/** The reasons for which this rule refuses nodes, in kube-scheduler's order. */
export const bindingReasons = [
  'BoundVolumeUnreachable',
  'NoVolumeFits',
  'ClaimPinnedElsewhere',
  'PreboundVolumeElsewhere',
  'TopologyNotAllowed',
  'NotEnoughCapacity',
  'NoDriveAdded',
  'NoDriveOfKind',
  'TooFewDrivesToSpread',
  'BoundVolumeMissing',
  'SearchBoundReached',
  'AttachLimitReached',
  'DriverNotInstalled',
] as const satisfies readonly NodeReason[];

export type BindingReason = (typeof bindingReasons)[number];

export const bit = Object.fromEntries(
  bindingReasons.map((reason, position) => [reason, 1 << position]),
) as Readonly<Record<BindingReason, number>>;
