import { readFile } from 'node:fs/promises';
import type { Cluster } from '../../../cluster/cluster.ts';
import { fileSystemReason } from '../../../io/files/file-system-reason.ts';
import { statefulSets } from '../../../kube/resources.ts';
import { readDriveObjects } from '../../../queries/drives/drive-objects.ts';
import { printableText } from '../../../runtime/printable-text.ts';
import { CliError, usage } from '../../errors/cli-error.ts';
import { byteText } from '../../output/byte-text.ts';
import { confirm } from '../../output/confirm.ts';
import { outputFormatOf, structured } from '../../output/output-format.ts';
import { Sections } from '../../output/sections.ts';
import { type DrivesFlags, withDrives } from '../../source/with-own-kinds.ts';
import { writeFileNamed } from '../discover.ts';
import { renderOptions } from '../list.ts';
import { forgetDrives } from './forget-drives.ts';
import { forgetFile, parseForgetFile } from './forget-file.ts';
import { type ForgetList, forgetListOf } from './forget-list.ts';
import { type ForgetTarget, lostTarget } from './forget-target.ts';

export interface ForgetFlags extends DrivesFlags {
  readonly outputFile?: string;
  readonly list?: string;
  readonly yes?: boolean;
  readonly output: string;
}

/** `stowage drives forget`: shows what is lost with a node or a drive, and removes it once that was reviewed. */
export async function forget(argument: string, flags: ForgetFlags): Promise<void> {
  if (flags.outputFile !== undefined && (flags.list !== undefined || flags.yes === true))
    throw usage('--output-file only writes the list; call the command again with --list to act on it');
  outputFormatOf(flags.output);
  const listed = flags.list === undefined ? undefined : await readListed(flags.list);
  await withDrives(flags, async (cluster) => {
    const { target, problemOf } = await lostTarget(cluster, argument);
    if (listed !== undefined) requireSame(flags.list!, listed, target);
    const list = listed ?? (await currentList(cluster, target));
    if (listed === undefined) process.stdout.write(listText(list, flags.output));
    if (flags.outputFile !== undefined) {
      await writeFileNamed(flags.outputFile, forgetFile(list));
      process.stderr.write(
        `the list is in ${flags.outputFile}; review it, then run stowage drives forget ${argument} --list ${flags.outputFile}\n`,
      );
      return;
    }
    if (list.drives.length === 0) return;
    // Who passes a file has reviewed it.
    if (listed === undefined)
      await confirm(
        `These ${list.drives.length} Drive objects of node ${target.node} are removed. PersistentVolumes and claims stay. Continue?`,
        flags.yes,
      );
    await forgetDrives(cluster, list, (line) => process.stderr.write(`${printableText(line)}\n`), problemOf);
  });
}

async function readListed(path: string): Promise<ForgetList> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CliError(`${path}: ${fileSystemReason(error)}`, 1, { cause: error });
  });
  return parseForgetFile(path, text);
}

/** The list of a whole node must not be used for one drive, and the other way round. */
function requireSame(path: string, listed: ForgetList, target: ForgetTarget): void {
  if (listed.node !== target.node) throw new CliError(`${path}: node: is ${listed.node}, not ${target.node}`);
  if (listed.drive !== target.drive)
    throw new CliError(
      `${path}: drive: is ${listed.drive ?? 'missing'}, not ${target.drive ?? 'missing'}; write the list again with --output-file`,
    );
  const other = listed.drives.find(({ name }) => target.drive !== undefined && name !== target.drive);
  if (other !== undefined)
    throw new CliError(`${path}: drives: has drive ${other.name}, and the list is about ${target.drive}`);
}

async function currentList(cluster: Cluster, target: ForgetTarget): Promise<ForgetList> {
  const objects = await readDriveObjects(cluster, { withUsers: true });
  const [note] = objects.notes;
  if (note !== undefined)
    throw new CliError(
      `${note.text}; without it the list would be incomplete, so ask for the right to list them`,
    );
  return forgetListOf(target, objects, (await cluster.resource(statefulSets).list()).items);
}

function listText(list: ForgetList, output: string): string {
  const format = outputFormatOf(output);
  if (format === 'json' || format === 'yaml') return structured(list, format);
  if (format === 'name') return list.drives.map(({ name }) => `drive.stowage.dev/${name}\n`).join('');
  const sections = new Sections(renderOptions('wide'));
  if (list.drives.length === 0) sections.line(`Node ${list.node} has no drives; nothing is lost.`);
  sections.table(`DRIVES OF ${list.node}`, list.drives, [
    { title: 'DRIVE', cell: ({ name }) => name },
    { title: 'VOLUMES', cell: ({ volumes }) => String(volumes.length), align: 'right' },
  ]);
  const volumes = list.drives.flatMap((drive) => drive.volumes);
  sections.table('LOST VOLUMES', volumes, [
    { title: 'VOLUME', cell: ({ name }) => name },
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    { title: 'CLAIM', cell: ({ claim }) => claim?.name ?? '-' },
    { title: 'OWNER', cell: ({ owner = '-' }) => owner },
  ]);
  sections.paragraphs('WHAT OWNERS CAN DO', [...new Set(volumes.map(({ advice }) => advice))]);
  return sections.toString();
}
