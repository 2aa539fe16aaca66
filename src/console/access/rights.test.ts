import { expect, test } from 'vitest';
import { deltaText } from '../http/event-stream.ts';
import { RowStore } from '../state/row-store.ts';
import type { ConsoleClaim, ConsoleVolume } from '../wire/rows.ts';
import { fullRights, type Rights } from './rights.ts';

const team: Rights = {
  key: 'team',
  isFull: false,
  everywhere: new Set(['persistentvolumes']),
  byNamespace: new Map([['shop', new Set(['persistentvolumeclaims'])]]),
};

function claim(namespace: string): ConsoleClaim {
  const id = `${namespace}/data`;
  return { id, namespace, storageClass: '', sizeBytes: 1, state: 'bound', volume: 'v', node: '' };
}

function volume(id: string, of: string): ConsoleVolume {
  return { id, storageClass: '', sizeBytes: 1, phase: 'Bound', claim: of, node: '', isProvisioned: false };
}

test('changes in namespaces that the viewer may not see are left out, deletions and names in volumes too', () => {
  const rows = new RowStore('e');
  rows.set('claim', claim('hidden'));
  const { position } = rows;
  rows.set('claim', claim('shop'));
  rows.set('volume', volume('pv-1', 'shop/data'));
  rows.set('volume', volume('pv-2', 'hidden/data'));
  rows.delete('claim', 'hidden/data');
  const changes = rows.since(position)!;
  expect(JSON.parse(deltaText(changes, team)!)).toEqual({
    upserts: { claim: [claim('shop')], volume: [volume('pv-1', 'shop/data'), volume('pv-2', '')] },
    gone: {},
  });
  expect(JSON.parse(deltaText(changes, fullRights)!).gone).toEqual({ claim: ['hidden/data'] });
  const none: Rights = { ...team, everywhere: new Set(), byNamespace: new Map() };
  expect(deltaText(changes, none)).toBeUndefined();
});
