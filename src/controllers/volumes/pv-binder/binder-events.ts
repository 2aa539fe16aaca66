import type { KubeObject } from '../../../kube/api/meta.ts';
import { type EventRecorder, referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** The same about the same object is not said again within this time, as often as it is looked at. */
const repeatMs = 15_000;

/** Something that people should know about a claim or a volume. */
export interface BinderEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** Tells what happened as Events on claims and volumes. */
export class BinderEvents {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  /** What was last told, by the key of the object in the queue; an entry goes with its object. */
  readonly #last = new Map<string, { readonly text: string; readonly atMs: number }>();

  constructor({ events, clock }: { readonly events: EventRecorder; readonly clock: Clock }) {
    this.#events = events;
    this.#clock = clock;
  }

  recordForClaim(claim: KubeObject, telling: BinderEvent): void {
    const { namespace, name } = claim.metadata ?? {};
    this.#tell(`claim ${namespace}/${name}`, claim, 'PersistentVolumeClaim', telling);
  }

  recordForVolume(volume: KubeObject, telling: BinderEvent): void {
    this.#tell(`volume ${volume.metadata?.name}`, volume, 'PersistentVolume', telling);
  }

  forget(key: string): void {
    this.#last.delete(key);
  }

  #tell(key: string, object: KubeObject, kind: string, { type, reason, note }: BinderEvent): void {
    const text = `${object.metadata?.uid} ${reason} ${note}`;
    const atMs = this.#clock.monotonicMs();
    const last = this.#last.get(key);
    if (last?.text === text && atMs - last.atMs < repeatMs) return;
    this.#last.set(key, { text, atMs });
    const regarding = referenceTo(object, { apiVersion: 'v1', kind });
    this.#events.record({ regarding, type, reason, action: 'Binding', note });
  }
}
