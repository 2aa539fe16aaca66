import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { builtProgram } from '../../built-program.ts';
import { projectRoot } from '../../project-root.ts';
import { runInUml } from './run-in-uml.ts';
import { umlKernel } from './uml-kernel.ts';

const scripts = join(projectRoot, 'test/kubernetes/uml');
const mebibyte = 1024 * 1024;

/** The kernel answers a write beyond the limit of a project with either. */
const full = expect.stringMatching(/^(ENOSPC|EDQUOT)$/);

test('XFS enforces the sizes of volumes, also after expansion and reboot', {
  timeout: 1_800_000,
}, async (context) => {
  const kernel = await umlKernel();
  if (kernel === undefined) return context.skip('no kernel with XFS quota');
  const host = dirname(builtProgram(new URL('../../../src/drives/host/linux-host.ts', import.meta.url)));
  const command = [process.execPath, join(scripts, 'quota-guest.mjs'), host];
  const { status, output, console } = await runInUml(kernel, { command, disks: 2, diskMiB: 400 });
  expect(status, `${output}\n${console}`).toBe(0);
  const seen = JSON.parse(output);

  expect(seen).toMatchObject({ device: '/dev/ubdb', support: 'yes' });
  expect(seen.options).toContain('prjquota');
  expect(seen.projects[0]).not.toBe(seen.projects[1]);
  expect(Math.min(...seen.projects)).toBeGreaterThan(0);

  // One volume is full: it ends below its limit, and the other volume is not affected.
  expect(seen.full).toEqual({ written: expect.any(Number), error: full });
  expect(seen.full.written).toBeGreaterThan(15);
  expect(seen.full.written).toBeLessThanOrEqual(20);
  expect(seen.preallocated).toBeDefined();
  expect(seen.other).toEqual({ written: 10 });
  expect(seen.usage.totalBytes).toBe(20 * mebibyte);
  expect(seen.usage.usedBytes).toBeGreaterThanOrEqual(10 * mebibyte);
  expect(seen.usage.availableBytes).toBeLessThanOrEqual(10 * mebibyte);
  // A file has the bytes of one project: it cannot be in two volumes.
  expect(seen.link).toBe('EXDEV');

  expect(seen.expanded).toEqual({ limit: 60, written: 20, project: seen.projects[0] });
  expect(seen.bound).toEqual({ limit: 60, written: expect.any(Number), error: full });
  expect(seen.readOnly).toBe('EROFS');
  expect(seen.afterReboot).toMatchObject({ limit: 20, error: full });
  expect(seen.afterReboot.bytes).toBeLessThanOrEqual(20 * mebibyte);

  expect(seen.adopted).toMatchObject({ error: full });
  expect(seen.adopted.used).toBeGreaterThanOrEqual(8);
  expect(seen.collision).toMatchObject({ error: full });
  expect(seen.collision.got).not.toBe(seen.collision.taken);
  expect(seen.left).toEqual({ isEmpty: true, limits: [] });
});

test('a volume of the CSI driver is full at its size, and grows', { timeout: 1_800_000 }, async (context) => {
  const kernel = await umlKernel();
  if (kernel === undefined) return context.skip('no kernel with XFS quota');
  const program = builtProgram(new URL('../../../src/cli/main.ts', import.meta.url));
  const command = [process.execPath, join(scripts, 'driver-guest.mjs'), dirname(dirname(program))];
  const { status, output, console } = await runInUml(kernel, { command, disks: 1, diskMiB: 700 });
  expect(status, `${output}\n${console}`).toBe(0);
  const seen = JSON.parse(output);
  expect(seen.full).toEqual({ written: expect.any(Number), error: full });
  expect(seen.full.written).toBeLessThanOrEqual(20);
  expect(seen.expanded).toEqual({ written: 20 });
  expect(seen.usage).toMatchObject([{ unit: 1, total: 60 * mebibyte }, { unit: 2 }]);
  expect(seen.usage[0].used).toBeGreaterThanOrEqual(seen.bytes);
});
