import { assert } from '../../../runtime/assert.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { StoreChange, Subscription } from '../../store/store.ts';
import { bucketOf, type RegistryContext } from '../context/registry-context.ts';
import type { RegistryEvent, WatchHandle, WatchListener } from '../registry.ts';
import type { ObjectFilter } from '../selection/object-filter.ts';
import { EventTranslator } from './event-translator.ts';

export interface OpenWatchOptions {
  readonly context: RegistryContext;
  readonly kind: ServedKind;
  readonly filter: ObjectFilter;
  /** Changes after this revision are delivered. */
  readonly start: number;
  readonly listener: WatchListener;
}

/**
 * A watch from its first change until it is closed, its kind is no longer served, or it fails. A failure ends only this
 * watch; it does not affect the writer.
 */
export class OpenWatch implements WatchHandle {
  readonly #options: OpenWatchOptions;
  readonly #translator: EventTranslator;
  #subscription: Subscription | undefined;
  #isClosed = false;
  #stopListening = (): void => {};

  constructor(options: OpenWatchOptions) {
    this.#options = options;
    this.#translator = new EventTranslator(options.context, options.kind, options.filter);
  }

  /** Delivers the changes since `start` before it returns. False if that revision is compacted. */
  open(): boolean {
    const { context, kind, start } = this.#options;
    this.#subscription = context.store.subscribe(bucketOf(context, kind), start, (changes) =>
      this.#deliver(changes),
    );
    if (this.#subscription === undefined) return false;
    if (kind.definition === undefined) return true;
    this.#stopListening = context.kinds.onRemoved(kind, () => this.#end());
    if (context.kinds.isRemoved(kind)) this.#end();
    return true;
  }

  get resourceVersion(): string {
    const { context, start } = this.#options;
    return String(Math.max(start, context.store.durableRevision));
  }

  close(): void {
    assert(this.#subscription !== undefined, 'only an open watch can be closed');
    this.#isClosed = true;
    this.#subscription.close();
    this.#stopListening();
  }

  #deliver(changes: readonly StoreChange[]): void {
    if (this.#isClosed) return;
    const { listener } = this.#options;
    try {
      const events = this.#translate(changes);
      if (events.length > 0) listener.events(events);
    } catch (error) {
      // While the watch opens, the caller receives the error.
      if (this.#subscription === undefined || listener.failed === undefined) throw error;
      this.close();
      listener.failed(error);
    }
  }

  #end(): void {
    const { listener } = this.#options;
    this.close();
    try {
      listener.ended?.();
    } catch (error) {
      if (listener.failed === undefined) throw error;
      listener.failed(error);
    }
  }

  #translate(changes: readonly StoreChange[]): readonly RegistryEvent[] {
    const events: RegistryEvent[] = [];
    for (const change of changes) {
      const event = this.#translator.translate(change);
      if (event !== undefined) events.push(event);
    }
    return events;
  }
}
