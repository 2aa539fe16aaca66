import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInKindCatalog } from '../../src/apiserver/kinds/built-in-kinds.ts';
import type { ServedKind, StoredObject } from '../../src/apiserver/kinds/served-kind.ts';
import { bootstrap } from '../../src/apiserver/registry/bootstrap.ts';
import { canonicalObject } from '../../src/apiserver/registry/canonical-object.ts';
import { EmbeddedRegistry } from '../../src/apiserver/registry/embedded-registry.ts';
import type { UpdateContext } from '../../src/apiserver/registry/registry.ts';
import { MemoryStore } from '../../src/apiserver/store/memory-store.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { sampleObjects } from './testing/sample-objects.ts';
import { TypedObjects } from './testing/typed-objects.ts';

/**
 * Kinds must not throw on an object with correct types, and the registry must reject objects only with an `ApiError`. The registry is
 * called in process, because an object then takes only a fraction of a millisecond.
 */
const store = new MemoryStore();
const kinds = builtInKindCatalog();
const registry = new EmbeddedRegistry({ store, kinds, clock: realClock, ids: systemIds });

beforeAll(async () => await bootstrap(registry));
afterAll(async () => await store.close());

const runs = 25;

test.each(kinds.all.map((kind) => [`${kind.kind}.${kind.group}`, kind] as const))(
  '%s: objects with random values are accepted or rejected, without an internal error',
  async (_name, kind) => {
    const samples = await createSample(kind);
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.constantFrom(0, 0.02, 0.1), async (seed, wrongTypeRate) => {
        const objects = new TypedObjects(seededRandom(seed), wrongTypeRate);
        for (const [what, write] of Object.entries(writes)) {
          const object = objects.next(kind, samples);
          expect(await bugOf(() => write(kind, object)), `${what} ${JSON.stringify(object)}`).toBeUndefined();
        }
      }),
      { numRuns: runs },
    );
  },
);

const context: UpdateContext = { manager: 'fuzz', user: 'fuzz', warn: () => {}, dryRun: true };

/** Dry runs do everything except the write, so that an object does not affect the next one. */
const writes: Readonly<Record<string, (kind: ServedKind, object: object) => Promise<void>>> = {
  async create(kind, object) {
    const decoded = canonicalObject(kind, object, 'Ignore');
    decoded.metadata.name = 'another';
    await show(kind, await registry.create(kind, namespaceOf(kind), decoded, context));
  },
  async update(kind, object) {
    const { snapshot } = await registry.update(
      kind,
      keyOf(kind),
      canonicalObject(kind, object, 'Ignore'),
      context,
    );
    await show(kind, snapshot);
  },
  async 'update of status'(kind, object) {
    if (!kind.hasStatus) return;
    const write = { ...context, subresource: 'status' };
    const { snapshot } = await registry.update(
      kind,
      keyOf(kind),
      canonicalObject(kind, object, 'Ignore'),
      write,
    );
    await show(kind, snapshot);
  },
  merge: (kind, object) => patch(kind, 'merge', object),
  strategic: (kind, object) => patch(kind, 'strategic', object),
  apply: (kind, object) => patch(kind, 'apply', object),
};

async function patch(kind: ServedKind, type: 'merge' | 'strategic' | 'apply', body: object): Promise<void> {
  const requested = { type, body, fieldValidation: 'Ignore', force: type === 'apply' } as const;
  const { snapshot } = await registry.patch(kind, keyOf(kind), requested, context);
  await show(kind, snapshot);
}

/** What lists and watches compute for an accepted object. */
async function show(kind: ServedKind, { object }: { readonly object: StoredObject }): Promise<void> {
  const cells = kind.row(object, { nowMs: realClock.nowMs() });
  expect(cells).toHaveLength(kind.columns.length);
  for (const [field, read] of Object.entries(kind.selectableFields ?? {}))
    expect(typeof read(object), field).toBe('string');
}

async function bugOf(act: () => Promise<void>): Promise<string | undefined> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiError)) return error instanceof Error ? error.stack : String(error);
  }
  return undefined;
}

type NamedObject = { readonly metadata: { readonly name: string } };

/** Stores one sample and returns all of them. */
async function createSample(kind: ServedKind): Promise<readonly NamedObject[]> {
  const samples = sampleObjects()
    .filter((sample) => sample.kind.plural === kind.plural && sample.kind.group === kind.group)
    .map(({ object }) => ({ ...object, metadata: { ...object.metadata, name: nameOf(kind) } }));
  const refusals: string[] = [];
  for (const object of samples) {
    try {
      const decoded = canonicalObject(kind, object, 'Ignore');
      await registry.create(kind, namespaceOf(kind), decoded, { ...context, dryRun: false });
      return samples;
    } catch (error) {
      refusals.push(String(error));
    }
  }
  throw new Error(`no sample of ${kind.kind} was accepted: ${refusals.join('; ')}`);
}

function namespaceOf(kind: ServedKind): string | undefined {
  return kind.namespaced ? 'default' : undefined;
}

function keyOf(kind: ServedKind) {
  return { namespace: namespaceOf(kind), name: nameOf(kind) };
}

/** Names in tests must be unique: two kinds share a storage, and the name of a definition follows from what it defines. */
function nameOf({ group }: ServedKind): string {
  if (group === 'apiextensions.k8s.io') return 'ws.fuzz.io';
  return group === 'events.k8s.io' ? 'sample-too' : 'sample';
}
