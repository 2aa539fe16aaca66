import { expect } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import type { StoredObject } from '../../kinds/served-kind.ts';
import { settle } from '../../store/testing/manual-durability.ts';
import type { DeleteResult, RegistryEvent, WatchQuery } from '../registry.ts';
import { type AnyObject, RegistryFixture } from './registry-fixture.ts';
import {
  describeModelObject,
  type ModelChange,
  type ModelObject,
  type ModelPlural,
  type Prediction,
  RegistryModel,
} from './registry-model.ts';

const diskFull = new Error('the disk is full');

/** A call, the model's prediction, and the outcome so far. */
interface Call extends Prediction {
  outcome: string | undefined;
}

interface Watcher {
  readonly plural: ModelPlural;
  readonly value: string | undefined;
  readonly seen: Map<string, string>;
  revision: number;
}

interface Reader {
  readonly token: string;
  readonly revision: number;
  readonly after: string;
}

/** Runs the same operations on the registry and its model, and compares them after each step. */
export class ModelDriver {
  readonly #fixture: RegistryFixture;
  readonly #model: RegistryModel;
  readonly #watchers: Watcher[] = [];
  #calls: Call[] = [];
  #reader: Reader | undefined;

  private constructor(fixture: RegistryFixture) {
    this.#fixture = fixture;
    this.#model = new RegistryModel(fixture.store.revision);
  }

  static async start(): Promise<ModelDriver> {
    const fixture = await RegistryFixture.start();
    fixture.gate.shut();
    return new ModelDriver(fixture);
  }

  create(plural: ModelPlural, name: string, value: string, finalizers: readonly string[]): void {
    const metadata = { name, labels: { value }, finalizers };
    const spec = plural === 'pods' ? { spec: { containers: [{ name: 'c', image: 'i' }] } } : {};
    const call = this.#fixture.create(plural, { metadata, ...spec });
    this.#expect(call.then(describeStored), this.#model.create(plural, name, value, finalizers));
  }

  patch(plural: ModelPlural, name: string, change: ModelChange): void {
    const { value, finalizers } = change;
    const metadata = {
      ...(value === undefined ? {} : { labels: { value } }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...this.#version(plural, name, change),
    };
    const call = this.#fixture.patch(plural, name, { metadata });
    this.#expect(call.then(describeStored), this.#model.change(plural, name, change));
  }

  /** PUT: omitting finalizers removes them. */
  replace(name: string, value: string, version: ModelChange['version']): void {
    const metadata = {
      namespace: 'default',
      name,
      labels: { value },
      ...this.#version('configmaps', name, { version }),
    };
    const call = this.#fixture
      .update('configmaps', { metadata })
      .then(({ snapshot }) => describeStored(snapshot.object));
    this.#expect(call, this.#model.change('configmaps', name, { value, finalizers: [], version }));
  }

  delete(plural: ModelPlural, name: string, isForced: boolean): void {
    const call = this.#fixture.delete(plural, name, isForced ? { gracePeriodSeconds: 0 } : {});
    this.#expect(call.then(describeDeletion), this.#model.delete(plural, name, isForced));
  }

  bind(name: string, node: string): void {
    const call = this.#fixture.post('pods', name, 'binding', { target: { name: node } });
    this.#expect(
      call.then(() => 'bound'),
      this.#model.bind(name, node),
    );
  }

  get(plural: ModelPlural, name: string): void {
    this.#expect(this.#fixture.get(plural, name).then(describeStored), this.#model.get(plural, name));
  }

  list(plural: ModelPlural, value: string | undefined, isOld: boolean): void {
    const version = { resourceVersion: String(this.#model.durable), resourceVersionMatch: 'Exact' };
    const query = { namespace: 'default', ...selecting(value), ...(isOld ? version : {}) };
    const call = this.#fixture.list(plural, query).then(({ items, resourceVersion }) => {
      return `${resourceVersion}: ${items.map(({ object }) => describeStored(object)).join(', ')}`;
    });
    this.#expect(call, this.#model.list(plural, value, isOld ? this.#model.durable : undefined));
  }

  /** Reads one page of one object of a list, whatever happened since the previous page. */
  async turnPage(): Promise<void> {
    const reader = this.#reader;
    const revision = reader?.revision ?? this.#model.revision;
    if (revision > this.#model.durable) return;
    const expected = this.#model
      .objectsAt(revision, 'configmaps')
      .filter(({ name }) => name > (reader?.after ?? ''));
    const start = reader === undefined ? {} : { continue: reader.token };
    const page = await this.#fixture.list('configmaps', { namespace: 'default', limit: 1, ...start });
    expect(page.items.map(({ object }) => describeStored(object))).toEqual(
      expected.slice(0, 1).map(describeModelObject),
    );
    expect([page.resourceVersion, page.remainingItemCount ?? 0]).toEqual([
      String(revision),
      Math.max(0, expected.length - 1),
    ]);
    expect(page.continue === undefined).toBe(expected.length <= 1);
    const { continue: token } = page;
    this.#reader = token === undefined ? undefined : { token, revision, after: expected[0]?.name ?? '' };
  }

  /** Begins with the state, or after the newest durable version. */
  async watch(plural: ModelPlural, value: string | undefined, isState: boolean): Promise<void> {
    const start = this.#model.durable;
    const known = isState ? [] : this.#model.objectsAt(start, plural, value);
    const seen = new Map(known.map((thing) => [thing.name, describeModelObject(thing)]));
    const watcher: Watcher = { plural, value, seen, revision: isState ? 0 : start };
    const version: WatchQuery = isState ? {} : { resourceVersion: String(start) };
    const query = { namespace: 'default', ...selecting(value), ...version };
    await this.#fixture.registry.watch(this.#fixture.kind(plural), query, {
      events: (events) => {
        for (const event of events) this.#observe(watcher, event);
      },
    });
    watcher.revision = start;
    this.#watchers.push(watcher);
  }

  /** Ends the batch that is being flushed. */
  async finishBatch(isWell: boolean): Promise<void> {
    await settle();
    const { gate } = this.#fixture;
    const { waitingRevision } = gate;
    if (waitingRevision === undefined) return;
    if (isWell) {
      this.#model.makeDurable(waitingRevision);
      gate.releaseBatch();
    } else {
      this.#model.rollBack();
      this.#calls = this.#calls.map((call) =>
        call.reveals > this.#model.durable
          ? Object.assign(call, { result: diskFull.message, reveals: 0 })
          : call,
      );
      gate.fail(diskFull);
    }
    await settle();
  }

  async check(): Promise<void> {
    await settle();
    for (const { outcome, result, reveals } of this.#calls) {
      expect(outcome).toBe(reveals <= this.#model.durable ? result : undefined);
    }
    this.#calls = this.#calls.filter(({ outcome }) => outcome === undefined);
    for (const { plural, value, seen } of this.#watchers) {
      const state = this.#model.objectsAt(this.#model.durable, plural, value).map(describeModelObject);
      expect([...seen.values()].sort()).toEqual([...state].sort());
    }
  }

  async end(): Promise<void> {
    while (this.#model.durable < this.#model.revision) {
      await this.finishBatch(true);
      await this.check();
    }
    expect(this.#calls).toEqual([]);
    expect(this.#fixture.store.revision).toBe(this.#model.revision);
  }

  #expect(call: Promise<string>, prediction: Prediction): void {
    const made: Call = { ...prediction, outcome: undefined };
    this.#calls.push(made);
    call.then(
      (result) => {
        made.outcome = result;
      },
      (error: Error) => {
        made.outcome = error instanceof ApiError ? error.status.reason : error.message;
      },
    );
  }

  #observe(watcher: Watcher, event: RegistryEvent): void {
    if (event.type === 'BOOKMARK') throw new Error('bookmarks were not requested');
    const { object } = event.snapshot;
    const { name = '', resourceVersion } = object.metadata;
    expect(Number(resourceVersion)).toBeLessThanOrEqual(this.#model.durable);
    if (this.#watchers.includes(watcher)) expect(Number(resourceVersion)).toBeGreaterThan(watcher.revision);
    expect(watcher.seen.has(name)).toBe(event.type !== 'ADDED');
    if (event.type === 'DELETED') watcher.seen.delete(name);
    else watcher.seen.set(name, describeStored(object));
    watcher.revision = Math.max(watcher.revision, Number(resourceVersion));
  }

  #version(
    plural: ModelPlural,
    name: string,
    { version }: ModelChange,
  ): { readonly resourceVersion?: string } {
    if (version === undefined) return {};
    if (version === 'old') return { resourceVersion: '1' };
    const found = this.#model.objectsAt(this.#model.revision, plural).find((thing) => thing.name === name);
    return { resourceVersion: String(found?.revision ?? 1) };
  }
}

function selecting(value: string | undefined) {
  return value === undefined ? {} : { labelSelector: `value=${value}` };
}

function describeStored(object: StoredObject): string {
  const { metadata, spec } = object as AnyObject;
  const thing: ModelObject = {
    name: metadata.name ?? '',
    value: metadata.labels?.value ?? '',
    finalizers: metadata.finalizers ?? [],
    grace: metadata.deletionTimestamp === undefined ? undefined : Number(metadata.deletionGracePeriodSeconds),
    node: String(spec?.nodeName ?? ''),
    revision: Number(metadata.resourceVersion),
  };
  return describeModelObject(thing);
}

function describeDeletion(deleted: DeleteResult): string {
  return deleted.kind === 'kept' ? describeStored(deleted.snapshot.object) : 'removed';
}
