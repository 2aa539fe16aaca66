import { describe, expect, inject, test } from 'vitest';
import { compareOnCluster } from './differential/comparison.ts';
import { RealCluster } from './differential/real-cluster.ts';
import { RealScheduler } from './differential/real-scheduler.ts';
import { Tally } from './differential/tally.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

/**
 * Random clusters and pods, the same in every run. To see others, more, or one again:
 *
 *     DIFFERENTIAL_SEED=1234 DIFFERENTIAL_CLUSTERS=500 npm run test:kubernetes -- test/kubernetes/differential.test.ts
 */
const firstSeed = Number(process.env.DIFFERENTIAL_SEED ?? 1);
const clusterCount = Number(process.env.DIFFERENTIAL_CLUSTERS ?? 200);
/** Ten pods take less than a second, but the machine may be busy. */
const clusterMaxMs = 20_000;
/** The number of clusters from which on every kind of outcome must occur. */
const clustersMany = 30;

const admissionOff = ['ServiceAccount', 'TaintNodesByCondition', 'StorageObjectInUseProtection'];
const bedOptions = { apiServer: { extraFlags: { 'disable-admission-plugins': admissionOff.join(',') } } };

describe.skipIf(lacks('1.36', ...serverPrograms, 'kube-scheduler'))('compared with kube-scheduler', () => {
  test(
    'profile upstream has the same verdicts and messages, and profile stowage differs only in known ways',
    async () => {
      const bed = await startTestBed(bedOptions);
      const cluster = new RealCluster(await bed.connect());
      await cluster.prepare();
      const real = await RealScheduler.start(bed, inject('kubernetesPrograms')['kube-scheduler'] ?? '');
      const tally = new Tally();
      try {
        for (let at = 0; at < clusterCount; at++)
          await compareOnCluster(firstSeed + at, cluster, real, tally);
      } finally {
        await real.close();
        process.stdout.write(`beside kube-scheduler, from seed ${firstSeed}: ${tally.summary}\n`);
      }
      expect(tally.problems).toEqual([]);
      if (clusterCount < clustersMany) return;
      const { verdicts, fits, refused, preempts } = tally.counts;
      expect(verdicts).toBeGreaterThan(clusterCount * 9);
      expect(Math.min(fits, refused) / verdicts).toBeGreaterThan(0.2);
      expect(preempts).toBeGreaterThan(0);
    },
    60_000 + clusterCount * clusterMaxMs,
  );
});
