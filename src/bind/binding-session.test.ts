import { describe, expect, test, vi } from 'vitest';
import type { ClusterCall } from '../cluster/intercepted-cluster.ts';
import { failWith, hang, onlyFor } from '../cluster/testing/fault-hooks.ts';
import { failure } from '../kube/api-error.ts';
import { persistentVolumeClaims, pods } from '../kube/resources.ts';
import { annotations } from '../kube/well-known.ts';
import { BindFailure } from './bind-failure.ts';
import { SessionFixture } from './testing/session-fixture.ts';

const key = 'default/p';
const name = { namespace: 'default', name: 'p' };
const { signal: never } = new AbortController();
const isPodBinding = ({ verb }: ClusterCall) => verb === 'post';

function selectedNode({ feed }: SessionFixture): string | undefined {
  return feed.get('PersistentVolumeClaim', 'default/data')?.metadata?.annotations?.[annotations.selectedNode];
}

describe('a reservation', () => {
  test('is confirmed when the cluster shows the bound pod', async () => {
    await using fixture = await SessionFixture.start();
    const { pod, reservation } = await fixture.reserved();
    await fixture.session.bind(pod, reservation, { extent: 'volumes and pod' }, never);
    await vi.waitFor(() => expect(fixture.session.reservationOf(key)).toBeUndefined(), { timeout: 120_000 });
    expect((await fixture.environment.cluster.resource(pods).get(name)).spec?.nodeName).toBe('n1');
    expect(fixture.log).toEqual([]);
  });

  test('is reverted when its pod is deleted before it is bound', async () => {
    await using fixture = await SessionFixture.start();
    await fixture.reserved();
    await fixture.environment.cluster.resource(pods).delete(name, { gracePeriodSeconds: 0 });
    await vi.waitFor(() => expect(fixture.log).toEqual([`reverted ${key}`]), { timeout: 120_000 });
    expect(fixture.session.reservationOf(key)).toBeUndefined();
  });
});

describe('a binding that fails', () => {
  test('calls beforeRevert while the capacity is still reserved, and then reverts', async () => {
    await using fixture = await SessionFixture.start();
    const { session, log, connection } = fixture;
    const { pod, reservation } = await fixture.reserved();
    connection.addHooks(
      onlyFor(isPodBinding, { before: failWith(failure(500, 'InternalError', 'etcd is away')) }),
    );
    const beforeRevert = () => log.push(`reserved: ${session.reservationOf(key) === reservation}`);
    const bound = session.bind(pod, reservation, { extent: 'volumes and pod', beforeRevert }, never);
    await expect(bound).rejects.toThrow(new BindFailure('etcd is away'));
    expect(log).toEqual(['reserved: true', `reverted ${key}`]);
    expect([session.inFlightCount, session.reservationOf(key)]).toEqual([0, undefined]);
  });

  test('because its signal aborts, reverts in memory and undoes nothing on the server', async () => {
    await using fixture = await SessionFixture.start();
    const { session, log } = fixture;
    await fixture.claim();
    const { pod, reservation } = await fixture.reserved(['data']);
    const stop = new AbortController();
    const beforeRevert = () => log.push('beforeRevert');
    const bound = session.bind(pod, reservation, { extent: 'volumes', beforeRevert }, stop.signal);
    await vi.waitFor(() => expect(selectedNode(fixture)).toBe('n1'), { timeout: 120_000 });
    stop.abort(new Error('leadership lost'));
    await expect(bound).rejects.toThrow('leadership lost');
    expect(log).toEqual([`reverted ${key}`]);
    const claims = fixture.environment.cluster.resource(persistentVolumeClaims);
    const { metadata } = await claims.get({ namespace: 'default', name: 'data' });
    expect(metadata?.annotations?.[annotations.selectedNode]).toBe('n1');
  });
});

describe('cancel', () => {
  test('stops a binding that waits for its volumes', async () => {
    await using fixture = await SessionFixture.start();
    const { session } = fixture;
    await fixture.claim();
    const { pod, reservation } = await fixture.reserved(['data']);
    const bound = session.bind(pod, reservation, { extent: 'volumes and pod' }, never);
    const rejected = expect(bound).rejects.toThrow(new BindFailure('preempted'));
    await vi.waitFor(() => expect(selectedNode(fixture)).toBe('n1'), { timeout: 120_000 });
    expect(session.cancel(key, 'preempted')).toBe(true);
    await rejected;
    expect(session.cancel(key, 'preempted')).toBe(false);
  });

  test('is too late while the node of the pod is being written', async () => {
    await using fixture = await SessionFixture.start();
    const { session, connection } = fixture;
    const { pod, reservation } = await fixture.reserved();
    const sent = new Promise<void>((resolve) => {
      const before = (call: ClusterCall) => {
        resolve();
        return hang()(call);
      };
      connection.addHooks(onlyFor(isPodBinding, { before }));
    });
    const stop = new AbortController();
    const bound = session.bind(pod, reservation, { extent: 'volumes and pod' }, stop.signal);
    const rejected = expect(bound).rejects.toThrow('stopped');
    await sent;
    expect(session.cancel(key, 'preempted')).toBe(false);
    stop.abort(new Error('stopped'));
    await rejected;
  });
});

test('bindAssigned ends the reservation when it fails, without avoiding the node', async () => {
  await using fixture = await SessionFixture.start();
  const { session, log } = fixture;
  await fixture.claim();
  const { pod, reservation } = await fixture.reserved(['data'], { nodeName: 'n1' });
  const bound = session.bindAssigned(pod, reservation, never);
  const rejected = expect(bound).rejects.toThrow(new BindFailure('too slow'));
  await vi.waitFor(() => expect(selectedNode(fixture)).toBe('n1'), { timeout: 120_000 });
  session.cancel(key, 'too slow');
  await rejected;
  expect(log).toEqual([`reverted ${key}`]);
  expect(session.reservationOf(key)).toBeUndefined();
});
