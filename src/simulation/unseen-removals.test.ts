import { expect, test } from 'vitest';
import type { ClusterCall } from '../cluster/intercepted-cluster.ts';
import { persistentVolumeClaims, pods } from '../kube/resources.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { SeenRemovals, UnseenRemovals } from './unseen-removals.ts';

const clock = new VirtualClock();
const watch = { verb: 'watch', resource: persistentVolumeClaims } as unknown as ClusterCall;
const body = { kind: 'Binding', metadata: { uid: 'pod' } };
const binding = { verb: 'post', resource: pods, name: 'p', body } as unknown as ClusterCall;
const deleted = (resourceVersion: string) =>
  ({ type: 'DELETED', object: { metadata: { resourceVersion } } }) as const;

/** The claim `default/c` was removed at revision 7. */
function removedAtSeven() {
  const unseen = new UnseenRemovals();
  const key = 'default/c';
  unseen.stored({ resource: 'persistentvolumeclaims', key, revision: 7, before: {}, after: undefined });
  return { unseen, process: new SeenRemovals(clock, unseen), isExempt: () => unseen.has('pod', key) };
}

test('a binding is exempt if it was sent before the removal was seen', async () => {
  const { process, isExempt } = removedAtSeven();
  await process.onDelivery.onWatchEvent?.(watch, deleted('6'));
  await clock.advance(1);
  await process.onSend.before?.(binding);
  await process.onDelivery.onWatchEvent?.(watch, deleted('7'));
  expect(isExempt()).toBe(true);
});

test.each([
  ['the event of the removal', deleted('7')],
  ['a later removal', deleted('9')],
  ['a whole list', { type: 'BOOKMARK', resourceVersion: '8', isInitialEnd: true } as const],
])('a binding is not exempt if it was sent after the process had seen %s', async (_, event) => {
  const { process, isExempt } = removedAtSeven();
  await process.onDelivery.onWatchEvent?.(watch, event);
  await clock.advance(1);
  await process.onSend.before?.(binding);
  expect(isExempt()).toBe(false);
});

test('the last binding that was sent counts', async () => {
  const { process, isExempt } = removedAtSeven();
  await process.onSend.before?.(binding);
  await process.onDelivery.onWatchEvent?.(watch, deleted('7'));
  await process.onSend.before?.(binding);
  expect(isExempt()).toBe(true);
  await clock.advance(1);
  await process.onSend.before?.(binding);
  expect(isExempt()).toBe(false);
});

test('nothing is exempt where no process has sent a binding, or no claim was removed', async () => {
  const { unseen, process, isExempt } = removedAtSeven();
  expect(isExempt()).toBe(false);
  await process.onSend.before?.(binding);
  expect(unseen.has('pod', 'default/other')).toBe(false);
});
