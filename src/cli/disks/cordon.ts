import { readDiskObjects } from '../../queries/disks/disk-objects.ts';
import { printLine } from '../output/print-line.ts';
import { targetNamed, targetText } from './disk-targets.ts';
import { type NodeOrDisk, setScheduling } from './scheduling-change.ts';
import { type DisksFlags, withDisks } from './with-disks.ts';

/** `stowage disks cordon` and `uncordon`: each line is printed when its change is stored. */
export async function setDisksCordoned(
  names: readonly string[],
  isCordoned: boolean,
  flags: DisksFlags,
): Promise<void> {
  const done = isCordoned ? 'cordoned' : 'uncordoned';
  await withDisks(flags, async (cluster) => {
    const objects = await readDiskObjects(cluster);
    const targets = names.map((name) => targetNamed(name, objects, ['node', 'disk']) as NodeOrDisk);
    for (const target of targets) {
      const isChanged = await setScheduling(cluster, target, { allowScheduling: !isCordoned });
      const line = `${targetText(target)} ${isChanged ? '' : 'already '}${done}${isCordoned ? '' : obstacleOf(target)}`;
      printLine(line);
    }
  });
}

/** Other reasons why an uncordoned disk gets no new replicas. */
function obstacleOf(target: NodeOrDisk): string {
  if (target.kind === 'node') return '';
  const { node, nodeName } = target.disk;
  return node?.spec?.allowScheduling === false ? `; node/${nodeName} is still cordoned` : '';
}
