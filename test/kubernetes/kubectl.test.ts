import { describe, expect, test } from 'vitest';
import { node, pods, statefulSet, storage } from '../up/manifests.ts';
import type { CallResult, TestBed } from './test-bed.ts';
import { typedCommands } from './testing/kubectl-commands.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

describe.skipIf(lacks('1.36', ...serverPrograms))('kubectl', () => {
  test('prints the same with our server as with the real one', async () => {
    const beds = await Promise.all([startTestBed(), startTestBed({ server: 'stowage' })]);
    await Promise.all(beds.map((bed) => bed.kubectl(['create', '-f', '-'], manifests)));
    const unexpectedDifferences: string[] = [];
    for (const { line, input } of typedCommands) {
      const [real, ours] = await Promise.all(beds.map((bed) => type(bed, line, input)));
      if (real !== ours) unexpectedDifferences.push(`kubectl ${line}\n--- real\n${real}\n--- ours\n${ours}`);
    }
    expect(unexpectedDifferences.join('\n\n')).toBe('');
  }, 600_000);
});

const manifests = [node, pods, storage, statefulSet].join('---');

async function type(bed: TestBed, line: string, input = ''): Promise<string> {
  const text = masked(await bed.kubectl(line.split(' '), input));
  return line.startsWith('explain') ? fieldLists(text) : text;
}

/** Kubernetes' field descriptions are not compared; the fields and their types are, except the one that our server adds. */
function fieldLists(text: string): string {
  const lines = text.split('\n').filter((line) => !/^ +fsSize\t</.test(line));
  return lines.filter((line) => /^(KIND|VERSION|GROUP|FIELD|error|exit)|^ +[\w$-]+\t</.test(line)).join('\n');
}

/**
 * Masks ages, times, uids, addresses and versions. For a rejected change, Kubernetes prints a diff of its internal structs; we print only
 * the message. Our server warns about kinds that it only stores.
 */
function masked({ stdout, stderr, code }: CallResult): string {
  return `${stdout}${stderr}exit ${code}`
    .replace(/\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}/g, '<time>')
    .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})/g, '<time>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replace(/\b\d+(s|m\d+s|m)\b */g, '<age> ')
    .replace(/\bAGE +/g, 'AGE ')
    .replace(/10\.96\.\d+\.\d+ */g, '<address> ')
    .replace(/CLUSTER-IP +/g, 'CLUSTER-IP ')
    .replace(/\n@@ -[\s\S]*?\n(?=\nexit)/g, '')
    .replace(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+ [+-]\d{4}/g, '<time>')
    .replace(/\b127\.0\.0\.1:\d+/g, '<server>')
    .replace(/resourceVersion: "\d+"/g, 'resourceVersion: <version>')
    .replace(/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1')
    .replace(/v1\.36\.3\+stowage/g, 'v1.36.3')
    .replace(/^Warning: .*; it is stored only\n/gm, '')
    .replace(/ +$/gm, '');
}
