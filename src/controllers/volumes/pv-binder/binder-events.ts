import type { KubeObject } from '../../../kube/api/meta.ts';
import { type EventRecorder, referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** The same event about the same object is not recorded again within this time. */
const repeatMs = 15_000;

/** An Event about a claim or a volume. */
export interface BinderEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** Records Events on claims and volumes. */
export class BinderEvents {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  /** The last event, by the key of the object in the queue; an entry is removed with its object. */
  readonly #last = new Map<string, { readonly text: string; readonly atMs: number }>();

  constructor({ events, clock }: { readonly events: EventRecorder; readonly clock: Clock }) {
    this.#events = events;
    this.#clock = clock;
  }

  recordForClaim(claim: KubeObject, event: BinderEvent): void {
    const { namespace, name } = claim.metadata ?? {};
    this.#recordEvent(`claim ${namespace}/${name}`, claim, 'PersistentVolumeClaim', event);
  }

  recordForVolume(volume: KubeObject, event: BinderEvent): void {
    this.#recordEvent(`volume ${volume.metadata?.name}`, volume, 'PersistentVolume', event);
  }

  forget(key: string): void {
    this.#last.delete(key);
  }

  #recordEvent(key: string, object: KubeObject, kind: string, { type, reason, note }: BinderEvent): void {
    const text = `${object.metadata?.uid} ${reason} ${note}`;
    const atMs = this.#clock.monotonicMs();
    const last = this.#last.get(key);
    if (last?.text === text && atMs - last.atMs < repeatMs) return;
    this.#last.set(key, { text, atMs });
    const regarding = referenceTo(object, { apiVersion: 'v1', kind });
    this.#events.record({ regarding, type, reason, action: 'Binding', note });
  }
}
