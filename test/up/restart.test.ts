import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiClient, type ApiObject, wholeStream } from './api-client.ts';
import { StowageProcess, temporaryFolder } from './stowage-process.ts';

/** All objects of this resource come from the test. */
const secrets = '/api/v1/namespaces/default/secrets';

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('exits with status 0, and ends open watches properly', async () => {
    const stowage = await StowageProcess.up(temporaryFolder());
    const client = new ApiClient(stowage.access);
    const watch = await client.watch(`${secrets}?watch=true`);
    const streamed = wholeStream(watch);
    // The event may arrive before the answer.
    const seen = new Promise((resolve) => watch.once('data', resolve));
    await client.call('POST', secrets, { body: { metadata: { name: 'seen' } } });
    await seen;

    expect(await stowage.stop(signal)).toEqual({ status: 0, signal: null });
    expect(stowage.stderr).toMatch(new RegExp(`\nstowage: ${signal}: stopping\n$`));
    const { text, isComplete } = await streamed;
    expect(text).toMatch(/^{"type":"ADDED",.*}\n$/);
    expect(isComplete).toBe(true);
  });
});

test('a signal during the start ends the process too', async () => {
  const stowage = new StowageProcess(['up', '--data', temporaryFolder(), '--port', '0']);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const { status, signal } = await stowage.stop();
  // Before the program has installed its handler, the signal kills the process.
  expect([status, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGTERM']);
});

test('the next start continues with the stored data', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await StowageProcess.up(data);
  const made = await fill(new ApiClient(first.access));
  const before = first.access;
  await first.stop();

  const second = await StowageProcess.up(data);
  const client = new ApiClient(second.access);
  expect({ ...second.access, url: '' }).toEqual({ ...before, url: '' });
  const { body: found } = await client.call('GET', secrets);
  expect(found.items).toEqual(made);
  const { body: after } = await client.call('POST', secrets, { body: { metadata: { name: 'after' } } });
  const newest = Math.max(...made.map(({ metadata }) => Number(metadata.resourceVersion)));
  expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(newest);
});

/** Returns the created objects as they are listed. */
async function fill(client: ApiClient): Promise<readonly ApiObject[]> {
  for (const name of ['a', 'b', 'c']) {
    await client.call('POST', secrets, { body: { metadata: { name }, stringData: { name } } });
  }
  await client.call('PATCH', `${secrets}/b`, {
    body: { stringData: { more: 'yes' } },
    contentType: 'application/merge-patch+json',
  });
  await client.call('DELETE', `${secrets}/c`);
  const { body } = await client.call('GET', secrets);
  expect(body.items?.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  return body.items ?? [];
}
