import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GoldenCommand } from '../golden/every-command.ts';
import { transcript } from '../golden/transcript.ts';
import { ApiClient } from '../up/api-client.ts';
import { StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import { canFormat, loopDevice } from './testing/loop-device.ts';

const drivesPath = '/apis/stowage.dev/v1alpha1/drives';
const merge = 'application/merge-patch+json';
const mib = 2 ** 20;
/** Always the same, so that tables have the same widths on every machine. */
const devices = ['/dev/loop71', '/dev/loop72'] as const;

/** `npx vitest run --config vitest.kubernetes.config.ts test/kubernetes/drives-transcripts -u` writes the files again. */
describe.skipIf(!canFormat)('what commands print that change drives', () => {
  test.each([
    { columns: 60, output: [], file: 'drives-narrow.txt' },
    { columns: undefined, output: ['-o', 'wide'], file: 'drives-wide.txt' },
  ])(
    'to $file',
    async ({ columns, output, file }) => {
      const folder = temporaryFolder();
      const up = await StowageProcess.up(join(folder, 'data'), '--controllers', 'none');
      const client = new ApiClient(up.access);
      onTestFinished(() => client.close());
      await client.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
      for (const device of devices) loopDevice(folder, device.slice('/dev/'.length), device);
      const masks = new Map<string, string>();
      const mask = (text: string) =>
        [...masks].reduce((masked, [hidden, shown]) => masked.replaceAll(hidden, shown), text);
      const flags = ['--kubeconfig', up.kubeconfig];
      const calls = async (...commands: readonly GoldenCommand[]) =>
        await transcript(commands, { flags, folder, columns, mask: (text) => text });

      const onNode = ['--node-name', 'n1'];
      const made = await calls(
        { name: 'drives init', args: [...devices, ...onNode, '--yes', ...output] },
        // They are drives now, and are not formatted again.
        { name: 'drives init', args: [devices[0], ...onNode, '--yes', ...output] },
      );
      const named = [...made.matchAll(/n1-[0-9a-f]{8}/g)].map(([name]) => name);
      const [source = '', target = ''] = new Set(named);
      for (const [name, letter] of [
        [source, 'a'],
        [target, 'b'],
      ] as const) {
        masks.set(name, `n1-${letter.repeat(8)}`);
        const status = { capacityBytes: 400 * mib, state: 'Ready' };
        await client.call('PATCH', `${drivesPath}/${name}/status`, { body: { status }, contentType: merge });
      }
      const spec = { volumes: [{ name: 'pvc-1', sizeBytes: 100 * mib }] };
      await client.call('PATCH', `${drivesPath}/${source}`, { body: { spec }, contentType: merge });
      const changed = await calls(
        { name: 'drives cordon', args: [source, target] },
        { name: 'drives move', args: [source, target] },
        { name: 'drives move', args: [source, target] },
        { name: 'drives repair', args: [source] },
        { name: 'drives uncordon', args: [target] },
        { name: 'drives remove', args: [source] },
      );
      await expect(mask(`${made}\n${changed}`)).toMatchFileSnapshot(
        join(import.meta.dirname, 'golden', file),
      );
    },
    900_000,
  );
});
