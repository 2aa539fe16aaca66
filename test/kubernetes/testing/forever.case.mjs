import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { lacks, serverPrograms, startTestBed } from '../vitest-beds.ts';

test.skipIf(lacks(...serverPrograms))(
  'a test that never ends',
  async () => {
    const bed = await startTestBed();
    const pids = [process.pid, bed.supervisorPid, bed.pidOf('etcd'), bed.pidOf('kube-apiserver')];
    writeFileSync(process.env.FOREVER_REPORT ?? '', JSON.stringify({ folder: bed.folder, pids }));
    await sleep(3_600_000);
  },
  3_600_000,
);
