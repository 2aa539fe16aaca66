import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { TestBed } from './test-bed.ts';
import { errorsIn, isLostRace } from './testing/klog.ts';
import { bindOnFirstConsumer, type FlowOutcome, release } from './testing/storage-flow.ts';
import { servedControllers, unservedControllers } from './testing/unserved-controllers.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const watched = ['kube-scheduler', 'kube-controller-manager'] as const;

/**
 * What kube-scheduler logs on any server if the watch of pods is ahead of the watch of claims: the claim of the pod is not known yet, so
 * the pod is refused before the plugin DynamicResources has prepared what its own PostFilter then does not find. The pod is tried again
 * when the claim arrives.
 */
const podBeforeItsClaim =
  /^schedule_one\.go:\d+\] "Status after running PostFilter plugins for pod" .*status="not found"/;

const cases = [
  {
    name: 'log no other errors where its kinds suffice',
    controllers: servedControllers,
    allowed: [podBeforeItsClaim],
  },
  {
    name: 'miss nothing but the known where all controllers run',
    controllers: ['*'],
    allowed: [podBeforeItsClaim, ...Object.values(unservedControllers)],
  },
];

interface Run {
  readonly outcome: FlowOutcome;
  readonly released: string | undefined;
  readonly errors: Readonly<Record<(typeof watched)[number], readonly string[]>>;
}

/** The real server shows which errors these programs log in normal operation. */
describe.skipIf(lacks(...serverPrograms, ...watched, 'kwok'))(
  'kube-scheduler and kube-controller-manager',
  () => {
    test.each(cases)(
      'bind a claim and run its pod on our server as on the real one, and $name',
      async (given) => {
        const run = (server: 'kubernetes' | 'stowage') => runOn(server, given.controllers);
        const [real, ours] = await Promise.all([run('kubernetes'), run('stowage')]);
        expect(real.outcome).toEqual({
          podPhase: 'Running',
          node: 'n2',
          claimPhase: 'Bound',
          claimVolume: 'disk-on-n2',
          selectedNode: undefined,
          volumePhase: 'Bound',
          volumeClaim: 'claim',
        });
        expect(ours.outcome).toEqual(real.outcome);
        expect([real.released, ours.released]).toEqual(['Released', 'Released']);
        for (const component of watched) {
          const isKnown = (error: string) =>
            real.errors[component].includes(error) ||
            isLostRace(error) ||
            given.allowed.some((pattern) => pattern.test(error));
          expect(ours.errors[component].filter((error) => !isKnown(error))).toEqual([]);
        }
      },
    );
  },
);

async function runOn(server: 'kubernetes' | 'stowage', controllers: readonly string[]): Promise<Run> {
  const bed: TestBed = await startTestBed({
    server,
    scheduler: { leaderElect: true },
    controllerManager: { leaderElect: true, controllers },
    kwok: true,
  });
  const cluster = await bed.connect();
  // Otherwise the log depends on timing: a controller may find a pod at its start or receive it as an event.
  while (!bed.logs('kube-controller-manager').includes('all resource monitors have synced')) await sleep(50);
  const outcome = await bindOnFirstConsumer(cluster);
  const released = await release(cluster);
  const [scheduler, controllerManager] = watched.map((component) => errorsIn(bed.logs(component)));
  return {
    outcome,
    released,
    errors: { 'kube-scheduler': scheduler ?? [], 'kube-controller-manager': controllerManager ?? [] },
  };
}
