import { beforeEach, describe, expect, test } from 'vitest';
import type { ListQuery, RegistryEvent } from '../registry.ts';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const namespace = 'default';

async function make(...names: readonly string[]): Promise<string> {
  let version = '';
  for (const name of names) {
    const labels = { first: name.slice(0, 1) };
    version =
      (await fixture.create('configmaps', { metadata: { name, labels } })).metadata.resourceVersion ?? '';
  }
  return version;
}

const list = (query: ListQuery = {}) => fixture.list('configmaps', { namespace, ...query });

/** Reads all pages with the given limit. `between` runs after every page. */
async function pages(query: ListQuery, between = async () => {}) {
  const read: string[] = [];
  const versions = new Set<string>();
  let token: string | undefined;
  do {
    const page = await list({ ...query, ...(token === undefined ? {} : { continue: token }) });
    const rest = page.remainingItemCount === undefined ? '' : ` +${page.remainingItemCount}`;
    read.push(`${page.names.join(' ')}${rest}`);
    versions.add(page.resourceVersion);
    token = page.continue;
    await between();
  } while (token !== undefined);
  return { read, versions: versions.size };
}

describe('pages', () => {
  test.each([
    [1, ['a +3', 'b +2', 'c +1', 'd']],
    [2, ['a b +2', 'c d']],
    [3, ['a b c +1', 'd']],
    [4, ['a b c d']],
    [5, ['a b c d']],
    [0, ['a b c d']],
  ])('of %d', async (limit, expected) => {
    await make('a', 'b', 'c', 'd');
    expect((await pages({ limit })).read).toEqual(expected);
  });

  test('all show one state, whatever is written meanwhile', async () => {
    await make('a', 'b', 'c', 'd');
    let round = 0;
    const { read, versions } = await pages({ limit: 1 }, async () => {
      round += 1;
      await fixture.delete('configmaps', 'abcd'.charAt(round - 1));
      await make(`z${round}`);
    });
    expect([read, versions]).toEqual([['a +3', 'b +2', 'c +1', 'd'], 1]);
  });

  test('of a selection have no remaining count, and continue while objects are left to examine', async () => {
    await make('a1', 'b1', 'a2', 'b2', 'b3');
    expect((await pages({ limit: 1, labelSelector: 'first=a' })).read).toEqual(['a1', 'a2', '']);
    expect((await pages({ limit: 2, labelSelector: 'first=b' })).read).toEqual(['b1 b2', 'b3']);
    expect((await pages({ limit: 1, labelSelector: 'first=x' })).read).toEqual(['']);
  });

  test('that expired return a token to continue', async () => {
    await make('a', 'b', 'c');
    const { continue: token } = await list({ limit: 1 });
    const past = Buffer.from(String(token), 'base64url')
      .toString()
      .replace(/"rv":\d+/, '"rv":1');
    const old = Buffer.from(past).toString('base64url');
    expect((await list({ limit: 1, continue: old })).names).toEqual([]);
    expect(await errorOf(list({ limit: 1, continue: '!' }))).toMatch(/^BadRequest: invalid continue token/);
    expect(await errorOf(list({ continue: String(token), resourceVersion: '5' }))).toBe(
      'BadRequest: specifying resource version is not allowed when using continue',
    );
  });
});

describe('versions', () => {
  test('Exact, with a limit, and NotOlderThan', async () => {
    const version = await make('a', 'b');
    await fixture.delete('configmaps', 'a');
    await make('c');
    const then = { resourceVersion: version };
    expect((await list({ ...then, resourceVersionMatch: 'Exact' })).names).toEqual(['a', 'b']);
    expect((await list({ ...then, limit: 5 })).names).toEqual(['a', 'b']);
    expect((await list({ ...then, limit: 5, resourceVersionMatch: 'NotOlderThan' })).names).toEqual([
      'b',
      'c',
    ]);
    expect((await list(then)).names).toEqual(['b', 'c']);
  });

  test('0 is any version and ignores the limit', async () => {
    await make('a', 'b');
    const { names, continue: token } = await list({ resourceVersion: '0', limit: 1 });
    expect([names, token]).toEqual([['a', 'b'], undefined]);
  });

  test('of one object by name is the newest, with or without a limit, unless Exact is requested', async () => {
    const resourceVersion = await make('a');
    await make('b');
    const query = { resourceVersion, fieldSelector: 'metadata.name=b', limit: 1 };
    expect((await list(query)).names).toEqual(['b']);
    expect((await list({ ...query, resourceVersionMatch: 'Exact' })).names).toEqual([]);
  });

  test('an exact list of every revision shows the state at that revision', async () => {
    const states: [string, readonly string[]][] = [];
    for (const [index, name] of ['a', 'b', 'c', 'a', 'b'].entries()) {
      if (index < 3) await make(name);
      else await fixture.delete('configmaps', name);
      const { resourceVersion, names } = await list();
      states.push([resourceVersion, names.map(String)]);
    }
    for (const [resourceVersion, names] of states) {
      expect((await list({ resourceVersion, resourceVersionMatch: 'Exact' })).names).toEqual(names);
    }
  });

  test.each(['99999', '18446744073709551615'])('%s is in the future', async (resourceVersion) => {
    const sentence = `Timeout: Timeout: Too large resource version: ${resourceVersion}, current: ${fixture.store.revision}`;
    expect(await errorOf(list({ resourceVersion }))).toBe(sentence);
    const { registry } = fixture;
    const get = registry.get(fixture.kind('namespaces'), { name: 'default' }, { resourceVersion });
    expect(await errorOf(get)).toBe(sentence);
  });

  test.each(['x', '-1', '1.5', '18446744073709551616'])('%s is invalid', async (resourceVersion) => {
    expect(await errorOf(list({ resourceVersion }))).toMatch(/^BadRequest: invalid resource version: /);
  });
});

describe('selectors', () => {
  beforeEach(async () => {
    await make('a1', 'a2', 'b1');
    await fixture.create('namespaces', { metadata: { name: 'other' } });
    await fixture.create('configmaps', { metadata: { namespace: 'other', name: 'a1' } });
  });

  test.each([
    [{}, ['default/a1', 'default/a2', 'default/b1', 'other/a1']],
    [{ fieldSelector: 'metadata.name=a1' }, ['default/a1', 'other/a1']],
    [{ fieldSelector: 'metadata.namespace=other' }, ['other/a1']],
    [{ namespace: 'default', fieldSelector: 'metadata.namespace=other' }, []],
    [{ namespace: 'default', fieldSelector: 'metadata.name=a2' }, ['default/a2']],
    [{ namespace: 'default', fieldSelector: 'metadata.name=a2,metadata.name=a1' }, []],
    [{ fieldSelector: 'metadata.name=a1,metadata.name!=a1' }, []],
    [{ namespace: 'default', fieldSelector: 'metadata.name!=a2' }, ['default/a1', 'default/b1']],
    [{ fieldSelector: 'metadata.namespace!=default' }, ['other/a1']],
    [{ namespace: 'default', labelSelector: 'first in (a)', fieldSelector: 'metadata.name=b1' }, []],
    [{ labelSelector: '!first' }, ['other/a1']],
    [{ namespace: 'nowhere' }, []],
  ])('%j', async (query, expected) => {
    const { items } = await fixture.list('configmaps', query);
    expect(items.map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`)).toEqual(
      expected,
    );
  });

  test('by name find one cluster-scoped object', async () => {
    expect((await fixture.list('namespaces', { fieldSelector: 'metadata.name=other' })).names).toEqual([
      'other',
    ]);
    expect((await fixture.list('namespaces', { fieldSelector: 'metadata.namespace=other' })).names).toEqual(
      [],
    );
  });

  test('an unknown field is refused', async () => {
    expect(await errorOf(list({ fieldSelector: 'spec.x=1' }))).toMatch(/^BadRequest: /);
  });
});

describe('other work gets turns', () => {
  const count = 60;
  beforeEach(async () => {
    for (let at = 0; at < count; at += 1) {
      await fixture.create('configmaps', {
        metadata: { name: `n${at}` },
        data: { text: 'x'.repeat(50_000) },
      });
    }
  });

  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let [turns, isDone] = [0, false];
    const tick = () => {
      turns += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    await work();
    isDone = true;
    return turns;
  }

  test('while many objects are selected by label', async () => {
    const read = turnsDuring(async () => {
      expect((await list({ labelSelector: 'a=b' })).names).toEqual([]);
    });
    expect(await read).toBeGreaterThanOrEqual(4);
  });

  test('and the list shows one state', async () => {
    const listing = list({ fieldSelector: 'metadata.name!=n0' });
    await fixture.create('configmaps', { metadata: { name: 'later' } });
    await fixture.delete('configmaps', 'n9');
    const { names, resourceVersion } = await listing;
    expect([names.includes('later'), names.includes('n9'), names.length]).toEqual([false, true, count - 1]);
    const again = await list({ resourceVersion, resourceVersionMatch: 'Exact' });
    expect(again.names.filter((name) => name !== 'n0')).toEqual(names);
  });

  test('while a watch selects the objects that exist, and changes follow', async () => {
    const seen: string[] = [];
    const listener = {
      events: (events: readonly RegistryEvent[]) => {
        for (const event of events)
          if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.snapshot.object.metadata.name}`);
      },
    };
    const query = { namespace, fieldSelector: 'metadata.name!=n1' };
    const opened = fixture.registry.watch(fixture.kind('configmaps'), query, listener);
    const turns = turnsDuring(() => opened);
    await fixture.create('configmaps', { metadata: { name: 'later' } });
    const handle = await opened;
    expect(await turns).toBeGreaterThanOrEqual(3);
    await fixture.create('configmaps', { metadata: { name: 'last' } });
    handle.close();
    expect(seen).toHaveLength(count - 1 + 2);
    expect(seen.slice(-2)).toEqual(['ADDED later', 'ADDED last']);
  });
});
