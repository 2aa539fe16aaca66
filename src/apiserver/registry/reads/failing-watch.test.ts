import { beforeEach, describe, expect, test } from 'vitest';
import type { ServedKind } from '../../kinds/served-kind.ts';
import { settle } from '../../store/testing/manual-durability.ts';
import type { RegistryEvent } from '../registry.ts';
import { RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const make = (name: string) => fixture.create('configmaps', { metadata: { name } });

/** A kind whose selector throws. */
function brokenKind(): ServedKind {
  const broken = () => {
    throw new Error('no such field');
  };
  return { ...fixture.kind('configmaps'), selectableFields: { broken } };
}

describe('a listener that fails', () => {
  test('receives the error once and nothing after it; the write and other watchers are not affected', async () => {
    const before = await fixture.watch('configmaps');
    const failures: unknown[] = [];
    const received: RegistryEvent[] = [];
    const handle = await fixture.registry.watch(
      brokenKind(),
      { fieldSelector: 'broken=x' },
      { events: (events) => received.push(...events), failed: (error) => failures.push(error) },
    );
    const after = await fixture.watch('configmaps');
    const written = await make('a');
    await make('b');
    await settle();
    handle.close();
    expect([failures, received]).toEqual([[new Error('no such field')], []]);
    expect(written.metadata.name).toBe('a');
    expect([before.events.length, after.events.length]).toEqual([2, 2]);
  });

  test('by throwing receives its own error', async () => {
    const failures: unknown[] = [];
    let calls = 0;
    const events = () => {
      calls += 1;
      throw new Error('full');
    };
    const failed = (error: unknown) => failures.push(error);
    await fixture.registry.watch(fixture.kind('configmaps'), {}, { events, failed });
    for (const name of ['a', 'b']) await make(name);
    await settle();
    expect([failures, calls]).toEqual([[new Error('full')], 1]);
  });

  test('before its watch is open makes the watch reject, and receives nothing later', async () => {
    const { revision } = fixture.store;
    await make('a');
    await settle();
    let calls = 0;
    const events = () => {
      calls += 1;
      throw new Error('full');
    };
    const failed = () => expect.fail('it was never open');
    const query = { resourceVersion: String(revision) };
    const watch = fixture.registry.watch(fixture.kind('configmaps'), query, { events, failed });
    await expect(watch).rejects.toThrow('full');
    await make('b');
    await settle();
    expect(calls).toBe(1);
  });

  test('and has no failed callback ends the process, after the others were notified', async () => {
    const events = () => {
      throw new Error('an index that is wrong');
    };
    await fixture.registry.watch(fixture.kind('configmaps'), {}, { events });
    const other = await fixture.watch('configmaps');
    const uncaught = await nextUncaught(async () => {
      await make('a');
      await settle();
    });
    expect(uncaught).toEqual(new Error('an index that is wrong'));
    expect(other.events).toHaveLength(1);
  });
});

/** Errors that would have ended the process. */
async function nextUncaught(act: () => Promise<void>): Promise<unknown> {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
    await act();
    return await uncaught;
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
}
