import type { Cluster } from '../../cluster/cluster.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { cordonedForDrive, moveCordonKey } from '../../queries/drain/move-cordon.ts';
import { printLine } from '../output/print-line.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { editDrive } from './edit-drive.ts';
import { accessTierOf, type LabelChanges, labelChangesIn } from './label-flags.ts';
import { driveNameIn, drivePrefix } from './named-drives.ts';

/** `stowage drives cordon` and `uncordon`. */
export async function setCordoned(
  names: readonly string[],
  isCordoned: boolean,
  flags: DrivesFlags,
): Promise<void> {
  const done = isCordoned ? 'cordoned' : 'uncordoned';
  await withDrives(flags, (cluster) =>
    changeEach(cluster, names, done, (drive) => {
      const isSame = (drive.spec?.unschedulable === true) === isCordoned;
      // From now on the cordon is that of a person: stowage move --undo does not remove it.
      const metadata = { annotations: { [moveCordonKey]: null } };
      if (cordonedForDrive(drive) !== undefined) return { metadata, spec: { unschedulable: isCordoned } };
      return isSame ? undefined : { spec: { unschedulable: isCordoned } };
    }),
  );
}

/** `stowage drives tier`. */
export async function setTier(name: string, text: string, flags: DrivesFlags): Promise<void> {
  const accessTier = accessTierOf(text);
  await withDrives(flags, (cluster) =>
    changeEach(cluster, [name], `in tier ${accessTier}`, ({ spec }) =>
      (spec?.accessTier ?? 'Default') === accessTier ? undefined : { spec: { accessTier } },
    ),
  );
}

/** `stowage drives label`. */
export async function setLabels(name: string, texts: readonly string[], flags: DrivesFlags): Promise<void> {
  const labels = labelChangesIn(texts);
  await withDrives(flags, (cluster) =>
    changeEach(cluster, [name], 'labeled', (drive) =>
      hasLabels(drive, labels) ? undefined : { metadata: { labels } },
    ),
  );
}

function hasLabels({ metadata }: Drive, labels: LabelChanges): boolean {
  return Object.entries(labels).every(([key, value]) => (metadata?.labels?.[key] ?? null) === value);
}

/** One drive after the other; each line is printed when its change is stored. */
async function changeEach(
  cluster: Cluster,
  names: readonly string[],
  done: string,
  decide: (drive: Drive) => object | undefined,
): Promise<void> {
  for (const name of names.map(driveNameIn)) {
    const { isChanged } = await editDrive(cluster, name, decide);
    printLine(`${drivePrefix}${name} ${isChanged ? '' : 'already '}${done}`);
  }
}
