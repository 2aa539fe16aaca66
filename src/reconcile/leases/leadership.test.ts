import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { hang } from '../../cluster/testing/fault-hooks.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { configMaps, leases } from '../../kube/resources.ts';
import { untilAborted } from '../../runtime/abort.ts';
import { seededRandom } from '../../runtime/random.ts';
import type { Controller, ControllerContext } from '../controller.ts';
import { leaseKeyOf } from './component-lease.ts';
import { Leadership } from './leadership.ts';
import { withLeaderElection } from './testing/with-leader-election.ts';

const shared = { namespace: 'default', name: 'shared' };

/** A controller that does nothing, and lets the test write in its name. */
class Writer {
  readonly history: string[] = [];
  #context: ControllerContext | undefined;

  readonly controller: Controller = {
    name: 'writer',
    run: async (context, signal) => {
      this.#context = context;
      this.history.push('starts');
      await context.clock.sleep(1e9, signal);
      this.history.push('ends');
    },
  };

  async write(): Promise<string> {
    const body = { metadata: { annotations: { a: 'b' } } };
    const patch = this.#context?.cluster.resource(configMaps).patch(shared, { type: 'merge', body });
    try {
      await patch;
      return 'written';
    } catch (error) {
      return (error as Error).message;
    }
  }
}

const refused = 'this process is not the leader; the leader does this write';

async function start() {
  const fixture = await VirtualTimeCluster.start();
  await fixture.cluster.resource(configMaps).create({ metadata: shared });
  const replica = (identity: string) => {
    const writer = new Writer();
    const connection = new InterceptedCluster(fixture.cluster);
    const onChange = ({ kind }: { readonly kind: string }) => writer.history.push(kind);
    const run = fixture.run([withLeaderElection(writer.controller, { identity, onChange })], connection);
    return { writer, connection, run };
  };
  return { fixture, replica };
}

test('the leader writes, and announces itself on its Lease', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  expect(await a.writer.write()).toBe('written');
  const lease = await fixture.cluster.resource(leases).get(leaseKeyOf('writer'));
  expect(lease.metadata?.annotations).toEqual({
    'stowage.dev/version': '0.1.0',
    'stowage.dev/feature-gates': 'VolumeScheduling=true',
  });
  expect(lease.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15 });
});

test('the second replica waits, and takes over as soon as the first ends', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  const b = replica('b');
  await fixture.settle();
  expect(b.writer.history).toEqual(['follows']);
  const closed = a.run.close();
  await fixture.settle(6_000);
  await closed;
  expect(a.writer.history).toEqual(['leads', 'starts', 'ends']);
  expect(b.writer.history).toEqual(['follows', 'leads', 'starts']);
  expect(await a.writer.write()).toBe(refused);
  expect(await b.writer.write()).toBe('written');
});

test('a disconnected leader writes nothing after ten seconds, and aborts its pending write', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  const reconnect = a.connection.addHooks({ before: hang() });
  await fixture.settle(7_000);
  const underWay = a.writer.write();
  await fixture.settle(4_000);
  expect(await underWay).toBe(refused);
  expect(await a.writer.write()).toBe(refused);
  expect(a.writer.history.slice(0, 4)).toEqual(['leads', 'starts', 'ends', 'lost']);
  reconnect();
  await fixture.settle(60_000);
  expect(await a.writer.write()).toBe('written');
});

test('a write without a response is aborted before another process could lead', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  const reconnect = a.connection.addHooks({
    before: (call) => (call.verb === 'patch' ? hang()(call) : undefined),
  });
  const underWay = a.writer.write();
  await fixture.settle(5_000);
  expect(await underWay).toBe('a write was not answered within 4.5 s');
  reconnect();
});

test('a process does not become a candidate before the work of its last term has ended', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const connection = new InterceptedCluster(fixture.cluster);
  const { clock } = fixture;
  const leadership = new Leadership({
    controller: 'writer',
    cluster: connection,
    identity: 'a',
    announcement: { version: '0.1.0', gates: {} },
    clock,
    random: seededRandom('a'),
    onError: () => {},
  });
  let running = 0;
  const counts: number[] = [];
  /** Takes half a minute to end, which is longer than the Lease is valid. */
  const work = async (term: AbortSignal) => {
    running += 1;
    counts.push(running);
    await untilAborted(term);
    await clock.sleep(30_000, new AbortController().signal);
    running -= 1;
  };
  const stop = new AbortController();
  const first = leadership.run(work, stop.signal);
  const lost = expect(first).rejects.toThrow('writer has stopped');
  await fixture.settle();
  const reconnect = connection.addHooks({ before: hang() });
  await fixture.settle(20_000);
  await lost;
  reconnect();
  const second = leadership.run(work, stop.signal);
  await fixture.settle(15_000);
  expect(counts).toEqual([1]);
  await fixture.settle(15_000);
  expect(counts).toEqual([1, 1]);
  // After the second term nothing waits for the signal any more, neither for its end nor for that of the first one.
  const lostAgain = expect(second).rejects.toThrow('writer has stopped');
  connection.addHooks({ before: hang() });
  await fixture.settle(20_000);
  await lostAgain;
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  stop.abort();
  await fixture.settle(40_000);
});
