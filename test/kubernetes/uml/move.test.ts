import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { builtProgram } from '../../built-program.ts';
import { projectRoot } from '../../project-root.ts';
import { runInUml } from './run-in-uml.ts';
import { umlKernel } from './uml-kernel.ts';

const mebibyte = 1024 * 1024;
/** All data under the only entry; and no data, no remains. */
const complete = { entries: 1, isEqual: [true], remains: 0 };
const empty = { entries: 0, isEqual: [], remains: 0 };

test('stowage move brings a volume to another drive with everything, also after it was killed', {
  timeout: 1_800_000,
}, async (context) => {
  const kernel = await umlKernel();
  if (kernel === undefined) return context.skip('no kernel with XFS quota');
  const program = builtProgram(new URL('../../../src/cli/main.ts', import.meta.url));
  const guest = join(projectRoot, 'test/kubernetes/uml/move-guest.mjs');
  const command = [process.execPath, guest, dirname(dirname(program))];
  const { status, output, console } = await runInUml(kernel, { command, disks: 2, diskMiB: 700 });
  expect(status, `${output}\n${console}`).toBe(0);
  const seen = JSON.parse(output);
  expect(seen.files).toBe(21);
  const hex = (text: string) => Buffer.from(text).toString('hex');
  expect(seen.attributes).toContain(`: ${hex('text')} ${hex('of root')} - -`);
  expect(seen.accessLists).toBe(2);

  // Killed while it copied: the source has everything, and no pod can start with it. Pods of the target go on.
  expect(seen.copy).toMatchObject({
    status: 'SIGKILL',
    source: { ...complete, isRepairing: true },
    target: { ...empty, remains: 1, isRepairing: false },
  });
  expect(seen.staged).toBe('Unavailable');

  // The copy differs from the source: nothing is released.
  expect(seen.difference).toMatchObject({ status: 1, source: complete, target: empty });
  expect(seen.difference.output).toContain('differs; nothing was removed');

  // Killed while it removed the source: the target has everything.
  expect(seen.removal).toMatchObject({
    status: 'SIGKILL',
    source: { ...empty, remains: 1 },
    target: complete,
  });
  expect(seen.end, seen.end.output).toMatchObject({ status: 0, source: empty, target: complete });

  // The new drive enforces the size, and counts what was copied.
  expect(seen.usage).toMatchObject([{ unit: 1, total: 200 * mebibyte }, { unit: 2 }]);
  expect(seen.usage[0].used).toBeGreaterThanOrEqual(40 * mebibyte);
  expect(new Set(seen.projects).size).toBe(1);
  expect(Number(seen.projects[0])).toBeGreaterThan(0);
  expect(seen.full).toEqual({
    written: expect.any(Number),
    error: expect.stringMatching(/^(ENOSPC|EDQUOT)$/),
  });
  expect(seen.full.written).toBeLessThanOrEqual(160);
  expect(seen.sparseKiB).toBeLessThan(1024);
  expect(seen.limits).toEqual([]);
  // Only the drive that was emptied stays cordoned.
  expect(seen.cordoned.toSorted()).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(seen.node.unschedulable).toBeUndefined();
});
