import { promisedBytes, readDrive } from '../../../engine/drives/drive-record.ts';
import { duplicateDrives } from '../../../engine/drives/shared-filesystems.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factValue } from '../facts.ts';

export const driveChecks: readonly Check[] = [
  { subject: 'the state of drives', needs: ['drives'], find: stateFindings },
  { subject: 'the nodes of drives', needs: ['drives', 'nodes'], find: nodeFindings },
];

function stateFindings({ lists }: ClusterFacts): readonly Found[] {
  const duplicates = duplicateDrives(factValue(lists.drives).map(readDrive));
  return factValue(lists.drives).flatMap((drive): Found[] => {
    const object = objectOf('Drive', drive);
    const { state, capacityBytes, conditions } = drive.status ?? {};
    const found: Found[] = [];
    const owner = duplicates.get(textOf(drive.metadata?.name));
    if (owner !== undefined)
      found.push({ code: 'DriveNotReady', object, detail: `drive ${owner} has the same filesystem` });
    else if (state !== 'Ready' && state !== 'Removing')
      found.push({
        code: 'DriveNotReady',
        object,
        detail: `state ${state ?? 'unknown'}${messageOf(drive.status)}`,
      });
    const differing = listOf(conditions).filter(
      ({ type, status }) =>
        ['LedgerMatches', 'DirectoriesMatch'].includes(textOf(type)) && status === 'False',
    );
    for (const { type, message } of differing)
      found.push({
        code: 'DriveLedgerDiffers',
        object,
        detail: `${textOf(type)} is False: ${textOf(message)}`,
      });
    const over = capacityBytes === undefined ? 0 : promisedBytes(readDrive(drive)) - capacityBytes;
    if (over > 0)
      found.push({
        code: 'DriveOverCommitted',
        object,
        detail: `${over} bytes more than its ${capacityBytes}`,
      });
    return found;
  });
}

function messageOf(
  status:
    | {
        readonly conditions?: readonly {
          readonly type?: string;
          readonly status?: string;
          readonly message?: string;
        }[];
      }
    | undefined,
): string {
  const mounted = listOf(status?.conditions).find(({ type }) => type === 'Mounted');
  return mounted?.status === 'False' && textOf(mounted.message) !== '' ? `: ${mounted.message}` : '';
}

function nodeFindings({ lists }: ClusterFacts): readonly Found[] {
  const known = new Set(factValue(lists.nodes).map(({ metadata }) => textOf(metadata?.name)));
  return factValue(lists.drives)
    .filter(({ spec }) => !known.has(textOf(spec?.nodeName)))
    .map((drive) => ({
      code: 'DriveNodeGone',
      object: objectOf('Drive', drive),
      detail: `its node ${textOf(drive.spec?.nodeName)} does not exist`,
    }));
}
