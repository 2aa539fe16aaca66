import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ApiClient } from '../up/api-client.ts';
import { StowageProcess, temporaryFolder } from '../up/stowage-process.ts';

/** Enough for the program and its caches, and for about half of the versions below. */
const heapMegabytes = 192;
const updates = 150;

/**
 * One character beyond Latin-1 makes V8 keep the whole text in two bytes a character. A cache that counts objects instead
 * of bytes would keep all versions, 300 MB, and end the process.
 */
test('an object of a megabyte can be updated any number of times', { timeout: 300_000 }, async () => {
  const data = join(temporaryFolder(), 'data');
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` };
  const args = ['up', '--data', data, '--port', '0', '--controllers', 'none'];
  const up = new StowageProcess(args, undefined, env);
  await up.answers();
  const client = new ApiClient(up.access);
  const path = '/api/v1/namespaces/default/configmaps';
  const bodyOf = (text: string) => ({ metadata: { name: 'large' }, data: { text: `日${text}` } });
  const created = await client.call('POST', path, { body: bodyOf('') });
  expect(created.status).toBe(201);
  for (let update = 0; update < updates; update += 1) {
    const text = String(update % 10).repeat(1_000_000);
    const { status } = await client.call('PUT', `${path}/large`, { body: bodyOf(text) });
    expect(status).toBe(200);
  }
  await up.stop();
});
