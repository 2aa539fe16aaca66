import {
  describeEvent,
  describeOperation,
  type History,
  type Item,
  type Operation,
  type WatchEvent,
} from './history.ts';

/** What responses and watches together reveal about the writes: which value has which version, and since when it is known. */
export class Evidence {
  readonly problems: string[] = [];
  readonly #versionOfValue = new Map<string, Sighting>();
  readonly #valueOfVersion = new Map<number, Sighting>();
  readonly #deletionOfValue = new Map<string, number>();
  readonly #writeOfValue = new Map<string, Operation>();

  constructor({ operations, watches }: History) {
    for (const operation of operations) {
      const { call } = operation;
      if (call.verb === 'create' || call.verb === 'update') this.#writeOfValue.set(call.value, operation);
    }
    for (const operation of operations) this.#readOperation(operation);
    for (const { watcher, startItems, events } of watches) {
      for (const item of startItems) this.#see(item, `the list of ${watcher}`, Number.POSITIVE_INFINITY);
      for (const event of events) this.#readEvent(watcher, event);
    }
  }

  versionOf(value: string): number | undefined {
    return this.#versionOfValue.get(value)?.version;
  }

  /** The version of the event that reported the deletion of the object while it had this value. */
  deletionVersionOf(value: string): number | undefined {
    return this.#deletionOfValue.get(value);
  }

  /** When a value was first seen by any client; undefined if it never was. */
  firstSeenMs(value: string): number | undefined {
    return this.#versionOfValue.get(value)?.atMs;
  }

  writeOf(value: string): Operation | undefined {
    return this.#writeOfValue.get(value);
  }

  #readOperation(operation: Operation): void {
    const { call, outcome, endMs } = operation;
    const where = describeOperation(operation);
    if (outcome.type === 'listed') for (const item of outcome.items) this.#see(item, where, endMs);
    if (outcome.type === 'found' && call.verb === 'get') {
      this.#see({ name: call.name, version: outcome.version, value: outcome.value }, where, endMs);
    }
    const isWrite = call.verb === 'create' || call.verb === 'update';
    if (isWrite && outcome.type === 'written' && outcome.version !== undefined) {
      this.#see({ name: call.name, version: outcome.version, value: call.value }, where, endMs);
    }
  }

  #readEvent(watcher: string, event: WatchEvent): void {
    if (event.type === 'BOOKMARK') return;
    const where = `${watcher}: ${describeEvent(event)}`;
    if (event.type !== 'DELETED') {
      this.#see(event, where, event.atMs);
      return;
    }
    this.#expectWrite(event, where);
    const known = this.#deletionOfValue.get(event.value);
    if (known !== undefined && known !== event.version) {
      this.problems.push(`${where}, but another watcher saw this deletion at version ${known}`);
    }
    this.#deletionOfValue.set(event.value, event.version);
  }

  #see(item: Item, where: string, atMs: number): void {
    this.#expectWrite(item, where);
    const { version, value } = item;
    const byValue = this.#versionOfValue.get(value);
    const byVersion = this.#valueOfVersion.get(version);
    if (byValue !== undefined && byValue.version !== version) {
      this.problems.push(`one write has two versions: ${where}; ${byValue.where}`);
    }
    if (byVersion !== undefined && byVersion.value !== value) {
      this.problems.push(`two writes have version ${version}: ${where}; ${byVersion.where}`);
    }
    if (byValue === undefined || atMs < byValue.atMs) {
      const sighting = { version, value, where, atMs };
      this.#versionOfValue.set(value, sighting);
      this.#valueOfVersion.set(version, sighting);
    }
  }

  /** A value that is seen must have been written to that object, by a write that did not fail. */
  #expectWrite({ name, value }: Item, where: string): void {
    const write = this.#writeOfValue.get(value);
    const isPossible = write?.outcome.type === 'written' || write?.outcome.type === 'unknown';
    const isSameObject = write !== undefined && 'name' in write.call && write.call.name === name;
    if (isPossible && isSameObject) return;
    const cause = write === undefined ? 'no client wrote that' : describeOperation(write);
    this.problems.push(`a change that did not happen: ${where}; ${cause}`);
  }
}

interface Sighting {
  readonly version: number;
  readonly value: string;
  readonly where: string;
  readonly atMs: number;
}
