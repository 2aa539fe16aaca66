import type { Event, ObjectReference } from '../../../src/kube/api/core.ts';
import type { KubeObject, OwnerReference } from '../../../src/kube/api/meta.ts';

/** The state of a cluster: objects with their kinds, and Events. */
export interface Snapshot {
  readonly objects: readonly Seen[];
  readonly events: readonly Event[];
}

export interface Seen {
  readonly kind: string;
  readonly object: KubeObject & { readonly spec?: unknown; readonly status?: unknown };
}

/** Objects and Events in a form that two clusters can be compared in, by object. */
export type MaskedState = Readonly<Record<string, unknown>>;

/** Times, identities and internal fields of the server: they always differ, and no controller decides about them. */
const leftOut = /^(uid|resourceVersion|managedFields|.*Time|.*Timestamp|startedAt)$/;
const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** For times whose key does not show it: `disruptedPods` of a budget maps names to times. */
const momentPattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
/** A certificate in JSON. Each server has its own certificate. */
const certificatePattern = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/g;
/** The prefix of the tenth and later Events of a kind about an object in client-go; their number depends on back-offs. */
const aggregated = /^\(combined from similar events\): /;
/** Kinds besides replica sets whose pods have random names, and the pattern of the suffix. */
const namesPods = ['DaemonSet', 'Job', 'ReplicationController'];
const podSuffix = '(-\\d+)?-[bcdfghjklmnpqrstvwxz2456789]{5}\\b';
/** Components that write the same Events on both clusters. */
const bystanders = ['default-scheduler', 'kwok', 'kubelet'];

/**
 * Shows one namespace without random values. Replica sets are named after the image of their template instead of its hash, and their pods
 * lose the last part of the name; objects with equal names are then numbered. The mask remembers the names of deleted objects, because
 * Events still mention them.
 */
export class StateMask {
  readonly #namespace: string;
  readonly #names = new Map<string, string>();
  readonly #volumes = new Set<string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** The objects and Events of the namespace. */
  here({ objects, events }: Snapshot): Snapshot {
    const here = objects.filter((seen) => this.#isHere(seen));
    for (const seen of here) this.#learn(seen);
    return { objects: here, events: events.filter((event) => this.#isOfHere(event)) };
  }

  /** The masked state. */
  see({ objects, events }: Snapshot): MaskedState {
    const state = new Map<string, unknown>();
    for (const [title, view] of this.#views(objects)) {
      let number = 1;
      while (state.has(numbered(title, number))) number += 1;
      state.set(numbered(title, number), view);
    }
    const lines = new Set(events.map((event) => this.#text(lineOf(event))));
    return { ...Object.fromEntries(state), events: [...lines].sort() };
  }

  #isHere({ kind, object }: Seen): boolean {
    const { namespace, name, labels = {} } = object.metadata ?? {};
    if (kind === 'Namespace') return name === this.#namespace;
    if (kind !== 'PersistentVolume') return namespace === this.#namespace;
    return claimOf(object)?.namespace === this.#namespace || labels.scene === this.#namespace;
  }

  #learn({ kind, object }: Seen): void {
    const { name = '', labels = {} } = object.metadata ?? {};
    if (kind === 'PersistentVolume') this.#volumes.add(name);
    if (namesPods.includes(kind)) this.#names.set(`${name}${podSuffix}`, `${name}-*`);
    if (kind !== 'ReplicaSet' || this.#names.has(`${name}\\b`)) return;
    const hash = labels['pod-template-hash'];
    const image = /"image":"([^"]*)"/.exec(JSON.stringify(object.spec))?.[1] ?? '';
    const title = hash === undefined ? name : name.replace(hash, `{${image}}`);
    this.#names.set(`${name}${podSuffix}`, `${title}-*`);
    this.#names.set(`${name}\\b`, title);
    if (hash !== undefined) this.#names.set(`\\b${hash}\\b`, `{${image}}`);
  }

  #views(here: readonly Seen[]): readonly (readonly [string, unknown])[] {
    return here
      .map(({ kind, object }) => {
        const text = this.#text(JSON.stringify(viewOf(object)));
        return [`${kind} ${this.#text(titleOf(object))}`, text] as const;
      })
      .sort(([a, x], [b, y]) => (a + x < b + y ? -1 : 1))
      .map(([title, text]) => [title, JSON.parse(text)] as const);
  }

  #isOfHere({ involvedObject = {}, reportingComponent, source }: Event): boolean {
    const { kind, namespace, name = '' } = involvedObject;
    if (bystanders.includes(reportingComponent || source?.component || '')) return false;
    return kind === 'PersistentVolume' ? this.#volumes.has(name) : namespace === this.#namespace;
  }

  #text(text: string): string {
    let masked = text
      .replace(uidPattern, '{uid}')
      .replace(momentPattern, '{moment}')
      .replace(certificatePattern, '{certificate}');
    for (const [pattern, title] of this.#names) masked = masked.replace(new RegExp(pattern, 'g'), title);
    return masked;
  }
}

/** Provisioned volumes are named after their claims. */
function titleOf(object: Seen['object']): string {
  const { name = '' } = object.metadata ?? {};
  return name.startsWith('pvc-') ? `of ${claimOf(object)?.name}` : name;
}

function claimOf({ spec }: Seen['object']): ObjectReference | undefined {
  return (spec as { readonly claimRef?: ObjectReference } | undefined)?.claimRef;
}

function numbered(title: string, number: number): string {
  return number === 1 ? title : `${title} #${number}`;
}

function lineOf({ involvedObject = {}, type, reason, message }: Event): string {
  const text = message?.replace(aggregated, '');
  return `${involvedObject.kind} ${involvedObject.name}: ${type} ${reason} ${text}`;
}

function viewOf({ metadata = {}, ...rest }: Seen['object']): unknown {
  const { apiVersion, kind, ...parts } = rest as Readonly<Record<string, unknown>>;
  const { deletionTimestamp, ownerReferences, name, namespace, ...others } = metadata;
  return withoutChance({
    ...others,
    ...(deletionTimestamp === undefined ? {} : { isGoing: true }),
    ...(ownerReferences === undefined ? {} : { ownerReferences: ownerReferences.map(ownerView) }),
    ...parts,
  });
}

function ownerView({ apiVersion, kind, name, controller, blockOwnerDeletion }: OwnerReference): string {
  const marks = [controller ? ' controller' : '', blockOwnerDeletion ? ' blocks' : ''];
  return `${apiVersion} ${kind} ${name}${marks.join('')}`;
}

/** Sorts keys, and lists of conditions by type, because their order has no meaning. */
function withoutChance(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isCompared).map(withoutChance).sort(byType);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !leftOut.test(key));
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, withoutChance(inner)]),
  );
}

/** The scheduler's condition is left out: it is the same scheduler on both clusters, and the condition may not be from its last attempt. */
function isCompared(value: unknown): boolean {
  return (value as { type?: unknown } | null)?.type !== 'PodScheduled';
}

function byType(a: unknown, b: unknown): number {
  const typeOf = (value: unknown) => (value as { type?: unknown } | null)?.type;
  const [x, y] = [typeOf(a), typeOf(b)];
  if (typeof x !== 'string' || typeof y !== 'string') return 0;
  return x < y ? -1 : x > y ? 1 : 0;
}
