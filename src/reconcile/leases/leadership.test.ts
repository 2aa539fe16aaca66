import { expect, test } from 'vitest';
import { hang } from '../../cluster/testing/fault-hooks.ts';
import { InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { configMaps, leases } from '../../kube/resources.ts';
import type { Controller, ControllerContext } from '../controller.ts';
import { leaseKeyOf } from './component-lease.ts';
import { withLeaderElection } from './testing/elected.ts';

const shared = { namespace: 'default', name: 'shared' };

/** A controller that does nothing, and lets the test write in its name. */
class Writer {
  readonly diary: string[] = [];
  #context: ControllerContext | undefined;

  readonly controller: Controller = {
    name: 'writer',
    run: async (context, signal) => {
      this.#context = context;
      this.diary.push('starts');
      await context.clock.sleep(1e9, signal);
      this.diary.push('ends');
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

const refused = 'this process does not lead; the one that does will see to it';

async function start() {
  const fixture = await VirtualTimeCluster.start();
  await fixture.cluster.resource(configMaps).create({ metadata: shared });
  const replica = (identity: string) => {
    const writer = new Writer();
    const wire = new InterceptedCluster(fixture.cluster);
    const onNews = ({ kind }: { readonly kind: string }) => writer.diary.push(kind);
    const run = fixture.run([withLeaderElection(writer.controller, { identity, onNews })], wire);
    return { writer, wire, run };
  };
  return { fixture, replica };
}

test('the leader writes, and says on its Lease what it is', async () => {
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
  expect(b.writer.diary).toEqual(['follows']);
  const closed = a.run.close();
  await fixture.settle(6_000);
  await closed;
  expect(a.writer.diary).toEqual(['leads', 'starts', 'ends']);
  expect(b.writer.diary).toEqual(['follows', 'leads', 'starts']);
  expect(await a.writer.write()).toBe(refused);
  expect(await b.writer.write()).toBe('written');
});

test('a leader that is cut off writes nothing from ten seconds on, and what is under way is given up', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  const heal = a.wire.addHooks({ before: hang() });
  await fixture.settle(7_000);
  const underWay = a.writer.write();
  await fixture.settle(4_000);
  expect(await underWay).toBe(refused);
  expect(await a.writer.write()).toBe(refused);
  expect(a.writer.diary.slice(0, 4)).toEqual(['leads', 'starts', 'ends', 'lost']);
  heal();
  await fixture.settle(60_000);
  expect(await a.writer.write()).toBe('written');
});

test('a write that gets no answer is given up before another could lead', async () => {
  const { fixture, replica } = await start();
  await using _ = fixture;
  const a = replica('a');
  await fixture.settle();
  const heal = a.wire.addHooks({ before: (call) => (call.verb === 'patch' ? hang()(call) : undefined) });
  const underWay = a.writer.write();
  await fixture.settle(5_000);
  expect(await underWay).toBe('a write was not answered within 4.5 s');
  heal();
});
