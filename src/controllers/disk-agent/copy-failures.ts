import type { KubeObject } from '../../kube/api/meta.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';

export interface CopyFailure {
  /** The object whose data was to be copied. */
  readonly object: KubeObject;
  readonly resource: Resource;
  readonly message: string;
  /** Nothing tries it again. */
  readonly isFinal: boolean;
}

/** Logs why data could not be copied, and records an Event: once for each cause, because attempts are repeated. */
export class CopyFailures {
  readonly #context: Pick<ControllerContext, 'log' | 'events'>;
  /** The cause that was reported last, by key. */
  readonly #causes = new Map<string, string>();

  constructor(context: Pick<ControllerContext, 'log' | 'events'>) {
    this.#context = context;
  }

  report(key: string, { object, resource, message, isFinal }: CopyFailure): void {
    const cause = `${isFinal} ${message}`;
    if (this.#causes.get(key) === cause) return;
    this.#causes.set(key, cause);
    const { kind } = resource;
    const next = isFinal ? 'it is not tried again on this disk' : 'it is tried again';
    this.#context.log.warn(`${kind} ${object.metadata?.name}: data could not be copied; ${next}`, {
      error: message,
    });
    this.#context.events.record({
      regarding: referenceTo(object, { apiVersion: apiVersionOf(resource), kind }),
      type: 'Warning',
      reason: 'CopyFailed',
      action: 'Copy',
      note: `${message}; ${next}`,
    });
  }

  /** The data is there, or is no longer wanted. */
  forget(key: string): void {
    this.#causes.delete(key);
  }
}
