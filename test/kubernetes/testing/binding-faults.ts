import { setTimeout as sleep } from 'node:timers/promises';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resources.ts';
import type { BindingFixture } from './binding-fixture.ts';
import type { InterceptedWrite, ProxiedResponse } from './write-proxy.ts';

/** Long enough for a scheduler or the PV controller to take its next step. */
const nextStepMs = 800;

/** A fault at a write of a binding, and the actions that follow it. */
export interface Fault {
  readonly name: string;
  readonly inject: (write: InterceptedWrite, fixture: BindingFixture, pod: string) => Promise<void>;
  /** While the PV controller is still frozen. */
  readonly beforeThaw?: FollowUp;
  readonly afterThaw?: FollowUp;
  /** After all volumes were bound. */
  readonly whenBound?: FollowUp;
}

type FollowUp = (fixture: BindingFixture, write: InterceptedWrite) => Promise<void>;

export type FaultPhase = 'beforeThaw' | 'afterThaw' | 'whenBound';

const crashBefore: Fault['inject'] = async (_, fixture) => fixture.crash();

const crashAfter: Fault['inject'] = async (write, fixture) => {
  await write.deliver();
  fixture.crash();
};

const loseWrite: Fault['inject'] = async (write) => write.disconnect();

async function restartNow(fixture: BindingFixture): Promise<void> {
  await fixture.startScheduler();
  await sleep(nextStepMs);
}

async function restartLater(fixture: BindingFixture): Promise<void> {
  await sleep(nextStepMs);
  await fixture.startScheduler();
}

async function deliverLate(_: BindingFixture, write: InterceptedWrite): Promise<void> {
  await sleep(nextStepMs);
  await write.deliver();
}

export const faults: readonly Fault[] = [
  // The stored state is the same in both cases; so in each case another component continues first.
  {
    name: 'the scheduler crashes before the write, and a new scheduler continues first',
    inject: crashBefore,
    beforeThaw: restartNow,
  },
  {
    name: 'the scheduler crashes after the write, and the PV controller continues first',
    inject: crashAfter,
    afterThaw: restartLater,
  },
  {
    name: 'the response is lost',
    inject: async (write) => {
      await write.deliver();
      write.disconnect();
    },
  },
  { name: 'the server returns an error', inject: async (write) => write.answer(internalError) },
  {
    name: 'another client wrote first',
    inject: async (write, fixture) => {
      await touch(write, fixture);
      write.answer(await write.deliver());
    },
  },
  {
    name: 'the write is lost, and arrives when the scheduler has continued',
    inject: loseWrite,
    beforeThaw: deliverLate,
  },
  {
    name: 'the write is lost, and arrives after everything is bound',
    inject: loseWrite,
    whenBound: deliverLate,
  },
  {
    name: 'the pod is deleted',
    inject: async (write, fixture, pod) => {
      await fixture.deletePod(pod);
      write.answer(await write.deliver());
    },
  },
];

/** The write is delayed for so long that no component waits for it any more. */
export const abandonedWrites: readonly Fault[] = [
  {
    name: 'the pod is deleted before the scheduler gives the write up',
    inject: async (write, fixture, pod) => {
      await fixture.deletePod(pod);
      write.disconnect();
    },
  },
  {
    name: 'the pod is deleted after the scheduler has given the write up',
    inject: async (write, fixture, pod) => {
      write.disconnect();
      await sleep(nextStepMs);
      await fixture.deletePod(pod);
    },
  },
];

const internalError: ProxiedResponse = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 500,
      reason: 'InternalError',
      message: 'etcd is unavailable',
    }),
  ),
};

/** Annotates the object of the write, which changes its resource version. */
async function touch({ target, namespace }: InterceptedWrite, { cluster }: BindingFixture): Promise<void> {
  const [plural, name = ''] = target.split('/');
  const patch = { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } } as const;
  const key = { namespace, name };
  if (plural === 'persistentvolumes') await cluster.resource(persistentVolumes).patch({ name }, patch);
  if (plural === 'persistentvolumeclaims') await cluster.resource(persistentVolumeClaims).patch(key, patch);
  if (plural === 'pods') await cluster.resource(pods).patch(key, patch);
}
