import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claim, pod, storageClass } from '../../engine/testing/objects.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import { limitsOf } from '../../queries/view/unseen-notes.ts';
import { loadClusterView } from './load-cluster-view.ts';
import { overlayFiles } from './overlay-files.ts';
import { requireNamespace } from './require-namespace.ts';

describe('files beside a live cluster', () => {
  test('add objects and replace those of the same name, and the notes say so', () => {
    const live = viewOf({ Node: [nodeWith('n1', '4')], Pod: [podWith('p', '8')] }, { unseen: [] });
    const files = viewOf({
      Node: [nodeWith('n1', '16'), nodeWith('n2', '2')],
      StorageClass: [storageClass('s')],
    });
    const view = overlayFiles(live, files, ['new.yaml']);
    expect(view.snapshot.get('Node', 'n1')?.status?.allocatable?.cpu).toBe('16');
    expect(view.snapshot.count('Node')).toBe(2);
    expect(view.snapshot.get('Pod', 'default/p')).toBeDefined();
    expect(view.notes).toEqual([
      {
        about: 'assumed',
        text: 'objects of new.yaml, only in memory: 2 added to the cluster, 1 replaced',
      },
    ]);
  });

  test('may supply the nodes that the user may not list', () => {
    const live = viewOf({ Pod: [pod('p', [])] }, { seesNodes: false });
    expect(overlayFiles(live, viewOf({ Node: [nodeWith('n1', '1')] }), ['x']).seesNodes).toBe(true);
    expect(overlayFiles(live, viewOf({ PersistentVolumeClaim: [claim('c', '1Gi')] }), ['x'])).toBeDefined();
  });
});

test("a second --from may describe what does not exist yet, so the pod's own condition is not compared", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-source-'));
  const [a, b] = ['a.json', 'b.json'].map((name) => join(folder, name));
  for (const path of [a!, b!])
    writeFileSync(path, JSON.stringify({ ...nodeWith('n1', '1'), apiVersion: 'v1', kind: 'Node' }));
  expect((await loadClusterView({ from: [a!] })).view.isHypothetical).toBe(false);
  expect((await loadClusterView({ from: [a!, b!] })).view.isHypothetical).toBe(true);
  rmSync(folder, { recursive: true });
});

test('a file is read up to a limit, which the error names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-source-'));
  const path = join(folder, 'large.json');
  writeFileSync(path, '');
  truncateSync(path, 600 * 2 ** 20);
  await expect(loadClusterView({ from: [path] })).rejects.toThrow(
    `${path}: has more than 500 MiB, which is the most that is read of one file; split it into several`,
  );
  rmSync(folder, { recursive: true });
});

describe('a namespace', () => {
  const view = viewOf({ Namespace: [{ metadata: { name: 'shop' } }] });

  test('that does not exist is an error', () => {
    expect(() => requireNamespace(view, 'nope', 'https://server')).toThrow(
      'there is no namespace nope in https://server; kubectl get namespaces lists those there are',
    );
  });

  test('is accepted if it exists, or if namespaces could not be read', () => {
    expect(() => requireNamespace(view, 'shop', 'x')).not.toThrow();
    expect(() => requireNamespace(viewOf({}), 'nope', 'x')).not.toThrow();
  });
});

describe('what the user may not read', () => {
  const hidden = (kind: 'Node' | 'CSINode' | 'CSIStorageCapacity', plural: string) => ({
    kind,
    plural,
    onlyNamespace: undefined,
  });
  const pods = { kind: 'Pod', plural: 'pods', onlyNamespace: 'shop' } as const;

  test('is one line, however many kinds it is', () => {
    const texts = limitsOf([hidden('Node', 'nodes'), pods, hidden('CSINode', 'csinodes')]).notes.map(
      ({ text }) => text,
    );
    expect(texts).toEqual([
      'could not read nodes, csinodes (forbidden); could read pods only in namespace shop: nothing can be said about nodes; elsewhere what other pods use and where they are is not counted; how many volumes nodes can attach is not looked at',
    ]);
    expect(limitsOf([]).notes).toEqual([]);
  });

  test('has the consequences, if there are nodes to look at', () => {
    const [note] = limitsOf([hidden('CSIStorageCapacity', 'csistoragecapacities'), pods]).notes;
    expect(note?.text).toBe(
      'could not read csistoragecapacities (forbidden); could read pods only in namespace shop: elsewhere what other pods use and where they are is not counted; capacity is not looked at',
    );
  });
});
