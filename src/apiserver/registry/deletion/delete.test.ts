import { beforeEach, describe, expect, test } from 'vitest';
import type { DeleteResult } from '../registry.ts';
import { type AnyObject, errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

async function makePod({ nodeName = 'n1', finalizers = [] as readonly string[], grace = 30 } = {}) {
  const spec = { nodeName, terminationGracePeriodSeconds: grace, containers: [{ name: 'c', image: 'i' }] };
  return await fixture.create('pods', { metadata: { name: 'p', finalizers }, spec });
}

/** The remaining grace period, or that the object is gone. */
function describeResult(deleted: DeleteResult): string {
  if (deleted.kind !== 'kept') return deleted.kind;
  const { deletionGracePeriodSeconds, generation, finalizers = [] } = deleted.snapshot.object.metadata;
  const held = finalizers.length === 0 ? '' : ` held by ${finalizers}`;
  return `kept for ${deletionGracePeriodSeconds} s, generation ${generation}${held}`;
}

const remove = async (gracePeriodSeconds?: number, more: object = {}) =>
  describeResult(
    await fixture.delete('pods', 'p', {
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...more,
    }),
  );

describe('the grace period of a pod', () => {
  test.each([
    [{}, undefined, 'kept for 30 s, generation 2'],
    [{ grace: 7 }, undefined, 'kept for 7 s, generation 2'],
    [{}, 5, 'kept for 5 s, generation 2'],
    [{}, 0, 'removedObject'],
    [{}, -1, 'kept for 1 s, generation 2'],
    [{ nodeName: '' }, undefined, 'removedObject'],
    [{ nodeName: '' }, 5, 'removedObject'],
    [{ nodeName: '', finalizers: ['x.io/a'] }, 5, 'kept for 0 s, generation 2 held by x.io/a'],
    [{ finalizers: ['x.io/a'] }, 0, 'kept for 0 s, generation 2 held by x.io/a'],
  ])('%j deleted with %s', async (pod, seconds, expected) => {
    await makePod(pod);
    expect(await remove(seconds)).toBe(expected);
  });

  test.each(['Succeeded', 'Failed'])('is 0 for a pod that has %s', async (phase) => {
    await makePod();
    await fixture.patch('pods', 'p', { status: { phase } }, { subresource: 'status' });
    expect(await remove()).toBe('removedObject');
  });

  test('gets shorter, never longer, and a repeated deletion writes nothing', async () => {
    await makePod();
    expect(await remove()).toBe('kept for 30 s, generation 2');
    const before = fixture.store.revision;
    expect(await remove(40)).toBe('kept for 30 s, generation 2');
    expect(await remove(30)).toBe('kept for 30 s, generation 2');
    expect(await remove()).toBe('kept for 30 s, generation 2');
    expect(fixture.store.revision).toBe(before);
    expect(await remove(10)).toBe('kept for 10 s, generation 2');
    expect(await remove(0)).toBe('removedObject');
  });

  test('ends as requested, but never in the past', async () => {
    await makePod();
    await remove();
    await fixture.clock.advance(20_000);
    await remove(25);
    const { metadata } = await fixture.get('pods', 'p');
    const endMs = Date.parse(String(metadata.deletionTimestamp));
    expect(endMs - fixture.clock.nowMs()).toBe(5000);
    expect(await remove(10)).toBe('kept for 1 s, generation 2');
    const { deletionTimestamp } = (await fixture.get('pods', 'p')).metadata;
    expect(Date.parse(String(deletionTimestamp))).toBe(fixture.clock.nowMs());
  });

  test('a pending deletion accepts no other policy', async () => {
    await makePod();
    await remove();
    expect(await remove(undefined, { propagationPolicy: 'Foreground' })).toBe('kept for 30 s, generation 2');
  });
});

test('watchers see the mark before the removal, each with its own version', async () => {
  const { metadata } = await makePod();
  const { events, described: names } = await fixture.watch('pods', {
    resourceVersion: metadata.resourceVersion,
  });
  const deleted = await fixture.delete('pods', 'p', { gracePeriodSeconds: 0 });
  const at = Number(metadata.resourceVersion);
  expect(names()).toEqual([`MODIFIED p@${at + 1}`, `DELETED p@${at + 2}`]);
  const last = events.at(-1);
  expect(last?.type === 'DELETED' && last.snapshot.object.metadata.deletionGracePeriodSeconds).toBe(0);
  expect(deleted.kind === 'removedObject' && deleted.snapshot.object.metadata.resourceVersion).toBe(
    `${at + 2}`,
  );
});

describe('finalizers', () => {
  const make = () =>
    fixture.create('configmaps', { metadata: { name: 'a', finalizers: ['x.io/a', 'x.io/b'] } });
  const keep = (...finalizers: readonly string[]) =>
    fixture.patch('configmaps', 'a', { metadata: { finalizers } });

  test('keep an object until the last one is removed', async () => {
    await make();
    expect(describeResult(await fixture.delete('configmaps', 'a'))).toMatch('kept for 0 s');
    const before = fixture.store.revision;
    await fixture.delete('configmaps', 'a');
    expect(fixture.store.revision).toBe(before);
    await keep('x.io/b');
    await keep();
    expect(await errorOf(fixture.get('configmaps', 'a'))).toBe('NotFound: configmaps "a" not found');
  });

  test('the removal shows the stored state, not the result of the last write', async () => {
    await make();
    await fixture.delete('configmaps', 'a');
    const { events } = await fixture.watch('configmaps', { namespace: 'default' });
    await fixture.patch('configmaps', 'a', { metadata: { finalizers: null }, data: { k: 'v' } });
    const last = events.at(-1);
    const shown = last?.type === 'DELETED' ? (last.snapshot.object as AnyObject) : undefined;
    expect([shown?.data, shown?.metadata.finalizers]).toEqual([undefined, ['x.io/a', 'x.io/b']]);
  });

  test('another policy changes them while the object exists', async () => {
    await make();
    await fixture.delete('configmaps', 'a', { propagationPolicy: 'Foreground' });
    await fixture.delete('configmaps', 'a', { propagationPolicy: 'Orphan' });
    expect((await fixture.get('configmaps', 'a')).metadata.finalizers).toEqual([
      'x.io/a',
      'x.io/b',
      'orphan',
    ]);
  });

  test('increase the generation of a kind that has one, once', async () => {
    const spec = { selector: { matchLabels: { a: 'b' } }, maxUnavailable: 1 };
    await fixture.create('poddisruptionbudgets', { metadata: { name: 'b', finalizers: ['x.io/a'] }, spec });
    await fixture.delete('poddisruptionbudgets', 'b');
    await fixture.delete('poddisruptionbudgets', 'b');
    expect((await fixture.get('poddisruptionbudgets', 'b')).metadata.generation).toBe(2);
  });
});

describe('preconditions', () => {
  test.each([{ uid: 'other' }, { resourceVersion: '1' }])('%j refuses', async (preconditions) => {
    await fixture.create('configmaps', { metadata: { name: 'a' } });
    const call = fixture.delete('configmaps', 'a', { preconditions });
    expect(await errorOf(call)).toMatch(/^Conflict: Operation cannot be fulfilled on ConfigMap "a": the /);
    expect(await fixture.get('configmaps', 'a')).toBeDefined();
  });

  test('that hold allow the deletion', async () => {
    const { metadata } = await fixture.create('configmaps', { metadata: { name: 'a' } });
    const { uid = '', resourceVersion = '' } = metadata;
    const deleted = await fixture.delete('configmaps', 'a', { preconditions: { uid, resourceVersion } });
    expect(deleted.kind).toBe('removed');
  });
});

describe('a namespace', () => {
  test('is deleted in steps: marked, emptied by others, then removed with its last finalizer', async () => {
    await fixture.create('namespaces', { metadata: { name: 'n' } });
    const marked = await fixture.delete('namespaces', 'n');
    expect(marked.kind === 'kept' && (marked.snapshot.object as AnyObject).status).toEqual({
      phase: 'Terminating',
    });
    const before = fixture.store.revision;
    expect((await fixture.delete('namespaces', 'n')).kind).toBe('kept');
    expect(fixture.store.revision).toBe(before);
    const found = await fixture.get('namespaces', 'n');
    await fixture.update('namespaces', { ...found, spec: { finalizers: [] } }, { subresource: 'finalize' });
    expect(await errorOf(fixture.get('namespaces', 'n'))).toMatch(/^NotFound/);
  });

  test('with a finalizer of its own stays after it was emptied', async () => {
    await fixture.create('namespaces', { metadata: { name: 'n', finalizers: ['x.io/a'] } });
    await fixture.delete('namespaces', 'n');
    const found = await fixture.get('namespaces', 'n');
    await fixture.update('namespaces', { ...found, spec: {} }, { subresource: 'finalize' });
    expect((await fixture.get('namespaces', 'n')).metadata.finalizers).toEqual(['x.io/a']);
    await fixture.patch('namespaces', 'n', { metadata: { finalizers: null } });
    expect(await errorOf(fixture.get('namespaces', 'n'))).toMatch(/^NotFound/);
  });

  test.each(['default', 'kube-system', 'kube-public'])('%s cannot be deleted', async (name) => {
    expect(await errorOf(fixture.delete('namespaces', name))).toBe(
      `Forbidden: namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  });
});

describe('a dry run', () => {
  test.each([
    ['pods', 'p', 'kept'],
    ['configmaps', 'a', 'removed'],
    ['configmaps', 'held', 'kept'],
    ['namespaces', 'n', 'kept'],
  ])('of %s %s returns the result and writes nothing', async (plural, name, expected) => {
    await makePod();
    await fixture.create('configmaps', { metadata: { name: 'a' } });
    await fixture.create('configmaps', { metadata: { name: 'held', finalizers: ['x.io/a'] } });
    await fixture.create('namespaces', { metadata: { name: 'n' } });
    const before = fixture.store.revision;
    expect((await fixture.delete(plural, name, {}, { dryRun: true })).kind).toBe(expected);
    expect(fixture.store.revision).toBe(before);
  });
});

describe('a collection', () => {
  const write = { manager: 'test', user: 'test', warn() {} };
  const removeAll = (query: object, dryRun = false) =>
    fixture.registry.deleteCollection(fixture.kind('configmaps'), query, {}, { ...write, dryRun });

  async function make(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const name = `m${String(index).padStart(4, '0')}`;
      await fixture.create('configmaps', { metadata: { name, labels: { parity: String(index % 2) } } });
    }
  }

  test('is deleted as selected and returned in its state before', async () => {
    await make(4);
    const answer = await removeAll({ namespace: 'default', labelSelector: 'parity=1' });
    expect(answer.items.map(({ object }) => object.metadata.name)).toEqual(['m0001', 'm0003']);
    expect((await fixture.list('configmaps', { namespace: 'default' })).names).toEqual(['m0000', 'm0002']);
  });

  test('is deleted completely, however large', async () => {
    await make(1100);
    await removeAll({ namespace: 'default' });
    expect((await fixture.list('configmaps', { namespace: 'default' })).names).toEqual([]);
  });

  test('is kept in a dry run', async () => {
    await make(2);
    await removeAll({ namespace: 'default' }, true);
    expect((await fixture.list('configmaps', { namespace: 'default' })).names).toHaveLength(2);
  });

  test('keeps objects that others recreated meanwhile', async () => {
    await make(2);
    const all = removeAll({ namespace: 'default' });
    await fixture.delete('configmaps', 'm0000');
    await fixture.create('configmaps', { metadata: { name: 'm0000' } });
    await all;
    expect((await fixture.list('configmaps', { namespace: 'default' })).names).toEqual(['m0000']);
  });
});

test('deleting jobs without a propagation policy returns a warning, even for an empty list', async () => {
  const write = { manager: 'test', user: 'test', warn: (text: string) => void fixture.warnings.push(text) };
  const jobs = fixture.kind('jobs');
  const query = { namespace: 'default' };
  await fixture.registry.deleteCollection(jobs, query, { propagationPolicy: 'Background' }, write);
  expect(fixture.warnings).toEqual([]);
  await fixture.registry.deleteCollection(jobs, query, {}, write);
  expect(fixture.warnings).toEqual([expect.stringContaining('child pods are preserved by default')]);
});
