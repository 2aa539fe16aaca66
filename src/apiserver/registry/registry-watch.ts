import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError, expired } from '../../kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../../kube/api-requests.ts';
import { onAbort } from '../../runtime/abort.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { eventBytes } from './event-bytes.ts';
import type { Registry, RegistryEvent, WatchHandle } from './registry.ts';

/**
 * The limits of queued events. The initial events are of objects that are in memory anyway, and count only as events. A batch that the reader
 * is consuming is kept besides. A reader that falls further behind must start over with a list, as with kube-apiserver.
 */
const waitingMax = 1_000_000;
const laterBytesMax = 64 * 2 ** 20;

/** A watch of the registry as an async iterable, which the reader consumes at its own pace. */
export class RegistryWatch<T extends KubeObject> implements AsyncIterable<WatchEvent<T>> {
  readonly #registry: Registry;
  readonly #kind: ServedKind;
  readonly #options: WatchOptions;

  constructor(registry: Registry, kind: ServedKind, options: WatchOptions) {
    this.#registry = registry;
    this.#kind = kind;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>> {
    const { signal } = this.#options;
    if (signal.aborted) return;
    const inbox = new Inbox();
    const handle = await this.#open(inbox);
    inbox.opened();
    // The signal may have been aborted while the watch was opened.
    if (signal.aborted) inbox.end();
    const stopListening = signal.aborted ? () => {} : onAbort(signal, () => inbox.end());
    try {
      for (;;) {
        const events = await inbox.next();
        if (events === undefined) return;
        for (const event of events) {
          if (signal.aborted) return;
          yield translated<T>(event);
        }
      }
    } finally {
      stopListening();
      handle.close();
    }
  }

  async #open(inbox: Inbox): Promise<WatchHandle> {
    const { sendInitialEvents } = this.#options;
    const query = {
      ...this.#options,
      bookmarks: this.#options.bookmarks === true || sendInitialEvents === true,
      ...(sendInitialEvents === undefined ? {} : { resourceVersionMatch: 'NotOlderThan' }),
    };
    return await this.#registry.watch(this.#kind, query, inbox);
  }
}

/** Queued events that the reader has not consumed. */
class Inbox {
  #waiting: RegistryEvent[] = [];
  /** The size of the queued events that arrived after opening. */
  #laterBytes = 0;
  #isOpen = false;
  #isOverfull = false;
  #failure: ApiError | undefined;
  #wake: (() => void) | undefined;
  #isEnded = false;

  events(events: readonly RegistryEvent[]): void {
    if (this.#isOpen) for (const event of events) this.#laterBytes += eventBytes(event);
    const isTooLong = this.#waiting.length + events.length > waitingMax;
    this.#isOverfull ||= isTooLong || this.#laterBytes > laterBytesMax;
    // Frees the events that the reader will not receive.
    if (this.#isOverfull) this.#waiting = [];
    else for (const event of events) this.#waiting.push(event);
    this.#wake?.();
  }

  /** Events that arrive from now on count against the limit of bytes. */
  opened(): void {
    this.#isOpen = true;
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  ended(): void {
    this.end();
  }

  /** A reader that resumed from its version would hit the same event again. */
  failed(error: unknown): void {
    const why = messageOf(error);
    const { status } = expired(`this watch has failed; start over with a list: ${why}`);
    this.#failure = new ApiError(status, { cause: error });
    this.#wake?.();
  }

  /** All queued events, at least one; undefined at the end. */
  async next(): Promise<readonly RegistryEvent[] | undefined> {
    while (this.#waiting.length === 0 && !this.#isEnded && !this.#isOverfull && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isEnded) return undefined;
    if (this.#isOverfull) throw expired('the reader of this watch is too slow; start over with a list');
    if (this.#waiting.length === 0 && this.#failure !== undefined) throw this.#failure;
    const events = this.#waiting;
    this.#waiting = [];
    this.#laterBytes = 0;
    return events;
  }
}

function translated<T extends KubeObject>(event: RegistryEvent): WatchEvent<T> {
  return event.type === 'BOOKMARK'
    ? event
    : { type: event.type, object: event.snapshot.object as unknown as T };
}
