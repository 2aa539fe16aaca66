import { expect } from 'vitest';
import type { AttackedServer } from './attacked-server.ts';

const path = '/api/v1/namespaces/default/configmaps';

/** Checks after an attack that no internal error was reported, that no prototype was changed, and that ordinary requests work. */
export async function expectHealthy(attacked: AttackedServer): Promise<void> {
  expect(attacked.bugs).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  await attacked.call('DELETE', `${path}/well`);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'well' }, data: { a: 'b' } };
  expect((await attacked.call('POST', path, { body })).status).toBe(201);
  const got = await attacked.call('GET', `${path}/well`);
  expect(JSON.parse(got.text)).toMatchObject({ metadata: { name: 'well' }, data: { a: 'b' } });
  const listed = JSON.parse((await attacked.call('GET', path)).text) as {
    items: { metadata: { name: string } }[];
  };
  expect(listed.items.map(({ metadata }) => metadata.name)).toContain('well');
  const line = await attacked.firstLine(`${path}?watch=1&fieldSelector=metadata.name%3Dwell`);
  expect(JSON.parse(line)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'well' } } });
}
