import type { Lease } from '../../../kube/api/coordination.ts';
import { formatMicroTime } from '../../../kube/go/timestamp.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ClusterFacts, Fact, FactLists } from '../../../queries/doctor/facts.ts';

export const nowMs = Date.parse('2026-03-01T12:00:00Z');

const nothing: Fact<readonly never[]> = { value: [] };

/** A definition that is installed. */
const definition = {
  metadata: { name: 'drives.stowage.dev' },
  spec: { versions: [{ name: 'v1alpha1', served: true }] },
} as const;

/** Nothing but the definition, everything read, nothing wrong. */
const emptyLists: FactLists = {
  nodes: nothing,
  pendingPods: nothing,
  ownPods: nothing,
  volumes: nothing,
  claims: nothing,
  classes: nothing,
  drivers: nothing,
  csiNodes: nothing,
  capacities: nothing,
  driverCapacities: nothing,
  drives: nothing,
  storageNodes: nothing,
  diskSchedules: nothing,
  diskVolumes: nothing,
  definitions: { value: [definition as never] },
  leases: nothing,
  nodeLeases: nothing,
  schedulingEvents: nothing,
  accounts: nothing,
};

type Objects = { readonly [K in keyof FactLists]?: unknown };

export function factsOf(objects: Objects = {}, rest: Partial<ClusterFacts> = {}): ClusterFacts {
  const lists = Object.fromEntries(Object.entries(objects).map(([name, value]) => [name, { value }]));
  return {
    server: { url: 'https://cluster', version: 'v1.36.3', isEmbedded: false },
    version: '1.0.0',
    nowMs,
    lists: { ...emptyLists, ...lists },
    clock: { value: { serverMs: nowMs, localMs: nowMs, toleranceMs: 600 } },
    gates: { value: new Map() },
    missingCallerRights: { value: [] },
    accounts: { value: [] },
    ownDefinitions: [definition as never],
    ...rest,
  };
}

/** Everything is forbidden. */
export function unreadFacts(): ClusterFacts {
  const unread = { unread: 'no right' };
  const lists = Object.fromEntries(Object.keys(emptyLists).map((name) => [name, unread]));
  return factsOf(
    {},
    {
      lists: lists as unknown as FactLists,
      clock: unread,
      gates: unread,
      missingCallerRights: unread,
      accounts: unread,
    },
  );
}

export interface LeaseOptions {
  readonly holder?: string;
  readonly agoMs?: number;
  readonly marks?: Readonly<Record<string, string>>;
}

export function leaseOf(name: string, { holder = 'a', agoMs = 2_000, marks = {} }: LeaseOptions = {}): Lease {
  return {
    metadata: { namespace: 'kube-system', name, annotations: marks },
    spec: { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: formatMicroTime(nowMs - agoMs) },
  };
}

/** The Lease of a scheduler for these names. */
export function schedulerLease(names: string, options: LeaseOptions = {}): Lease {
  const marks = { [annotations.schedulerNames]: names, [annotations.profile]: 'stowage', ...options.marks };
  return leaseOf('stowage-scheduler', { ...options, marks });
}

export const at = (ms: number) => new Date(ms).toISOString();

export const condition = (type: string, status: string, reason = 'R', message = 'why') => ({
  type,
  status,
  reason,
  message,
});

/** The problems of a cluster, and the findings of the doctor: `severity CODE object`. */
export interface DoctorCase {
  readonly name: string;
  readonly facts: ClusterFacts;
  readonly finds: readonly string[];
}
