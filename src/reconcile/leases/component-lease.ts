import type { Lease } from '../../kube/api/coordination.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import { annotations } from '../../kube/well-known.ts';

/** The Lease of a controller: who runs it, and what that one says of itself. */
export function leaseKeyOf(controller: string): ObjectKey & { readonly namespace: string } {
  return { namespace: 'kube-system', name: `stowage-${controller}` };
}

/** What can be switched in a component, by the name of the gate. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** What a component says of itself. */
export interface ComponentAnnouncement {
  readonly version: string;
  readonly gates: FeatureGates;
}

/** As annotations of its Lease. */
export function announcementAnnotations({
  version,
  gates,
}: ComponentAnnouncement): Readonly<Record<string, string>> {
  const told = Object.entries(gates).map(([name, isOn]) => `${name}=${isOn}`);
  return { [annotations.version]: version, [annotations.featureGates]: told.join(',') };
}

/** What the Lease says of its component; a version that is not there is empty, and so is a gate. */
export function announcementOf(lease: Lease): ComponentAnnouncement {
  const all = lease.metadata?.annotations ?? {};
  const pairs = (all[annotations.featureGates] ?? '').split(',').map((pair) => pair.trim().split('='));
  const gates = pairs.flatMap(([name = '', value]) =>
    value === 'true' || value === 'false' ? [[name, value === 'true'] as const] : [],
  );
  return { version: all[annotations.version] ?? '', gates: Object.fromEntries(gates) };
}
