import { setTimeout as sleep } from 'node:timers/promises';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resources.ts';
import type { BindingTrial } from './binding-trial.ts';
import type { Answer, PassingWrite } from './write-line.ts';

/** Long enough for a scheduler or the PV controller to take its next step. */
const aWhileMs = 800;

/** A fault at a write of a binding, and the actions that follow it. */
export interface Fault {
  readonly name: string;
  readonly befall: (write: PassingWrite, trial: BindingTrial, pod: string) => Promise<void>;
  /** While the PV controller is still frozen. */
  readonly beforeThaw?: Aftermath;
  readonly afterThaw?: Aftermath;
  /** After all volumes were bound. */
  readonly whenCalm?: Aftermath;
}

type Aftermath = (trial: BindingTrial, write: PassingWrite) => Promise<void>;

export type Moment = 'beforeThaw' | 'afterThaw' | 'whenCalm';

const diesBefore: Fault['befall'] = async (_, trial) => trial.die();

const diesAfter: Fault['befall'] = async (write, trial) => {
  await write.deliver();
  trial.die();
};

const isLost: Fault['befall'] = async (write) => write.hangUp();

async function comesAtOnce(trial: BindingTrial): Promise<void> {
  await trial.schedule();
  await sleep(aWhileMs);
}

async function comesLater(trial: BindingTrial): Promise<void> {
  await sleep(aWhileMs);
  await trial.schedule();
}

async function arrives(_: BindingTrial, write: PassingWrite): Promise<void> {
  await sleep(aWhileMs);
  await write.deliver();
}

export const faults: readonly Fault[] = [
  // The stored state is the same in both cases; so in each case another component continues first.
  {
    name: 'the scheduler dies before it, and the next comes first',
    befall: diesBefore,
    beforeThaw: comesAtOnce,
  },
  {
    name: 'the scheduler dies when it has arrived, and the PV controller comes first',
    befall: diesAfter,
    afterThaw: comesLater,
  },
  {
    name: 'its answer gets lost',
    befall: async (write) => {
      await write.deliver();
      write.hangUp();
    },
  },
  { name: 'the server has an error', befall: async (write) => write.answer(internalError) },
  {
    name: 'somebody else was faster',
    befall: async (write, trial) => {
      await touch(write, trial);
      write.answer(await write.deliver());
    },
  },
  { name: 'it gets lost, and arrives when the scheduler has gone on', befall: isLost, beforeThaw: arrives },
  { name: 'it gets lost, and arrives when all is over', befall: isLost, whenCalm: arrives },
  {
    name: 'the pod is deleted',
    befall: async (write, trial, pod) => {
      await trial.deletePod(pod);
      write.answer(await write.deliver());
    },
  },
];

/** The write is delayed for so long that no component waits for it any more. */
export const lateForNobody: readonly Fault[] = [
  {
    name: 'its pod is deleted before its writer gives it up',
    befall: async (write, trial, pod) => {
      await trial.deletePod(pod);
      write.hangUp();
    },
  },
  {
    name: 'its pod is deleted when its writer has given it up',
    befall: async (write, trial, pod) => {
      write.hangUp();
      await sleep(aWhileMs);
      await trial.deletePod(pod);
    },
  },
];

const internalError: Answer = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 500,
      reason: 'InternalError',
      message: 'etcd is away',
    }),
  ),
};

/** Annotates the object of the write, which changes its resource version. */
async function touch({ target, namespace }: PassingWrite, { cluster }: BindingTrial): Promise<void> {
  const [plural, name = ''] = target.split('/');
  const patch = { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } } as const;
  const key = { namespace, name };
  if (plural === 'persistentvolumes') await cluster.resource(persistentVolumes).patch({ name }, patch);
  if (plural === 'persistentvolumeclaims') await cluster.resource(persistentVolumeClaims).patch(key, patch);
  if (plural === 'pods') await cluster.resource(pods).patch(key, patch);
}
