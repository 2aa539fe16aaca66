import { onTestFinished } from 'vitest';
import { systemIds } from '../../runtime/ids.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { DriveCache } from '../controller/drive-cache.ts';
import { startLedgerComparison } from '../controller/ledger-comparison.ts';
import type { DrivesFixture } from './drives-fixture.ts';

/** Compares ledgers and reports failing drives, as a `stowage csi` that leads does. `stop` ends the process. */
export function runComparison({ clock, cluster }: DrivesFixture, instance = 'test') {
  const random = seededRandom(`comparison ${instance}`);
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const supervisor = new Supervisor({ clock, random: random.fork('work'), onCrash: onError });
  const common = { cluster, clock, random, supervisor, onError };
  const cache = new DriveCache(common);
  const stopComparison = startLedgerComparison({
    ...common,
    cache,
    ids: systemIds,
    metrics: new Metrics(),
    instance,
  });
  let stopped: Promise<unknown> | undefined;
  const stop = async () => {
    stopped ??= Promise.all([stopComparison(), cache.stop()]);
    await clock.advance(10_000);
    await stopped;
    await supervisor.close();
  };
  onTestFinished(stop);
  return { errors, stop };
}
