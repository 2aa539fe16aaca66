import type { Lease } from '../../kube/api/coordination.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import { annotations } from '../../kube/well-known.ts';

/** The Lease of a controller: it names the process that runs it and carries its announcement. */
export function leaseKeyOf(controller: string): ObjectKey & { readonly namespace: string } {
  return { namespace: 'kube-system', name: `stowage-${controller}` };
}

/** Switches of a component, by the name of the gate. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** What a component publishes about itself. */
export interface ComponentAnnouncement {
  readonly version: string;
  readonly gates: FeatureGates;
}

/** The annotations of its Lease. */
export function announcementAnnotations({
  version,
  gates,
}: ComponentAnnouncement): Readonly<Record<string, string>> {
  const values = Object.entries(gates).map(([name, isOn]) => `${name}=${isOn}`);
  return { [annotations.version]: version, [annotations.featureGates]: values.join(',') };
}

/** The announcement on a Lease. A missing version is empty, and a missing gate is left out. */
export function announcementOf(lease: Lease): ComponentAnnouncement {
  const all = lease.metadata?.annotations ?? {};
  const pairs = (all[annotations.featureGates] ?? '').split(',').map((pair) => pair.trim().split('='));
  const gates = pairs.flatMap(([name = '', value]) =>
    value === 'true' || value === 'false' ? [[name, value === 'true'] as const] : [],
  );
  return { version: all[annotations.version] ?? '', gates: Object.fromEntries(gates) };
}
