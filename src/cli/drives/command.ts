import { type Command, Option } from 'commander';
import { collect, fromCluster, ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

/** `stowage drives`, a group of commands. */
export function addDrives(program: Command): void {
  const drives = program
    .command('drives')
    .description('manage local drives: discover, format, list, cordon, repair, move and remove them')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives discover                    the block devices of this machine
  stowage drives init /dev/sdb --node-name n1
  stowage drives list                        drives with what is used, promised and free
  stowage drives info shop/data-db-0         where the volume of a claim is

Each command has a --help of its own. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    );
  addDiscover(drives);
  addInit(drives);
  addList(drives);
  addInfo(drives);
  addChanges(drives);
  addRemove(drives);
  addRepair(drives);
  addMove(drives);
  addForget(drives);
}

const nodeName = new Option(
  '--node-name <name>',
  'the Node of this machine (default: the name of the machine in lowercase)',
);

function addDiscover(drives: Command): void {
  drives
    .command('discover')
    .argument('[devices...]', 'only these devices, also loop devices (default: all but loop devices)')
    .description('show the block devices of this machine, and which can become drives; changes nothing')
    .addOption(nodeName)
    .option('--include-loop', 'show loop devices, too')
    .option('--output-file <file>', 'write the available devices to a file for review; init reads it')
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
A value of --output with a dot or a slash is taken as --output-file.

Examples:
  stowage drives discover                             all devices, and why some are not available
  stowage drives discover --output-file drives.yaml   for review, then: stowage drives init drives.yaml
  stowage drives discover -o name                     only the available devices

It needs root, and no cluster. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (devices, options) => {
      const { discoverDevices } = await import('./discover.ts');
      await discoverDevices(devices, options);
    });
}

function addInit(drives: Command): void {
  drives
    .command('init')
    .argument('<devices...>', 'devices such as /dev/sdb, or one file of discover')
    .description('format devices of this machine as XFS, and register them as drives')
    .addOption(nodeName)
    .option('--tier <tier>', 'the access tier: Default, Hot, Warm or Cold')
    .addOption(new Option('--label <key=value>', 'a label of the drives; may be repeated').argParser(collect))
    .option('--force', 'also devices that carry data or partitions, which are erased')
    .option('--yes', 'do not ask before devices are formatted')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives init /dev/sdb /dev/sdc --node-name n1
  stowage drives init drives.yaml --yes               what was reviewed; a device that changed since is refused
  stowage drives init /dev/nvme1n1 --tier Hot --label rack=r1

A device that is mounted, swap, read-only, held by another device, or a drive already is never formatted. Called again
after an interruption, it goes on where it stopped. Exit status: 0 if all devices are drives now, 1 on an error or if a
device was refused, 2 on wrong usage.`,
    )
    .action(async (devices, options) => {
      const { init } = await import('./init.ts');
      await init(devices, options);
    });
}

function addRepair(drives: Command): void {
  drives
    .command('repair')
    .argument('<drive>', 'the name of the drive, which must be in this machine')
    .description('repair the filesystem of a drive with xfs_repair, while its volumes are not in use')
    .option('--discard-log', 'discard a log that cannot be replayed; the last writes are lost')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives repair n1-b7f6c1de

The state of the drive is Repairing meanwhile, and the node service unmounts it. Exit status: 0 if the filesystem is in
order, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (drive, options) => {
      const { repair } = await import('./repair.ts');
      await repair(drive, options);
    });
}

function addMove(drives: Command): void {
  drives
    .command('move')
    .argument('<source>', 'the drive whose volumes are moved; both must be in this machine, and cordoned')
    .argument('<target>', 'the drive that they are moved to')
    .description('copy the volumes of a drive to another drive of the node, while no pod uses them')
    .option('--volume <name>', 'only this volume; may be repeated (default: all)', collect)
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives cordon n1-b7f6c1de n1-0a3b8f1c
  stowage drives move n1-b7f6c1de n1-0a3b8f1c

Data is removed from the source when an equal copy is on the target. Called again after an interruption, it goes on. The
state of the source is Repairing meanwhile; pods that use only the target go on. Exit status: 0 on success, 1 on an error, 2 on
wrong usage.`,
    )
    .action(async (source, target, options) => {
      const { moveDriveVolumes } = await import('./move.ts');
      await moveDriveVolumes(source, target, options);
    });
}

function addList(drives: Command): void {
  drives
    .command('list')
    .argument('[what]', 'drives or volumes', 'drives')
    .description('show drives with what is used, promised and free, or the volumes on them')
    .option('--node <name>', 'only the drives of this node')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives list                   all drives, with bars on a terminal
  stowage drives list -o wide           with devices, filesystems and labels
  stowage drives list volumes --node n1
  stowage drives list -o name | xargs stowage drives cordon

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (what, options) => {
      const { listDrives } = await import('./list.ts');
      await listDrives(what, options);
    });
}

function addInfo(drives: Command): void {
  drives
    .command('info')
    .argument('[volume]', 'a volume, or a claim as NAMESPACE/NAME (default: what each node has)')
    .description('show where a volume is, or what each node has')
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives info                     each node with its drives
  stowage drives info shop/data-db-0      drive, node, device, size and pods of a claim's volume

Exit status: 0 on success, 1 on an error or if no drive has the volume, 2 on wrong usage.`,
    )
    .action(async (volume, options) => {
      const { driveInfo } = await import('./info.ts');
      await driveInfo(volume, options);
    });
}

/** `label`, `tier`, `cordon` and `uncordon`. */
function addChanges(drives: Command): void {
  addLabel(drives);
  addTier(drives);
  addCordon(drives);
  addUncordon(drives);
}

function addLabel(drives: Command): void {
  withCluster(drives.command('label'))
    .argument('<drive>', 'the name of the drive')
    .argument('<labels...>', 'KEY=VALUE sets a label, KEY- removes it')
    .description('set or remove labels of a drive, which classes can ask for')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives label n1-b7f6c1de rack=r1
  stowage drives label n1-b7f6c1de rack-           removes the label

Labels of stowage.dev and kubernetes.io are reserved. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (drive, labels, options) => {
      const { setLabels } = await import('./change.ts');
      await setLabels(drive, labels, options);
    });
}

function addTier(drives: Command): void {
  withCluster(drives.command('tier'))
    .argument('<drive>', 'the name of the drive')
    .argument('<tier>', 'Default, Hot, Warm or Cold')
    .description('set the access tier of a drive, which classes can ask for')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives tier n1-b7f6c1de Hot

Volumes that are on the drive stay there. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (drive, tier, options) => {
      const { setTier } = await import('./change.ts');
      await setTier(drive, tier, options);
    });
}

function addCordon(drives: Command): void {
  withCluster(drives.command('cordon'))
    .argument('<drives...>', 'the names of the drives')
    .description('keep new volumes away from drives')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives cordon n1-b7f6c1de
  stowage drives list --node n1 -o name | xargs stowage drives cordon

Volumes that are there stay, and may grow. Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { setCordoned } = await import('./change.ts');
      await setCordoned(names, true, options);
    });
}

function addUncordon(drives: Command): void {
  withCluster(drives.command('uncordon'))
    .argument('<drives...>', 'the names of the drives')
    .description('let drives take new volumes again')
    .addHelpText(
      'after',
      `
Examples:
  stowage drives uncordon n1-b7f6c1de

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { setCordoned } = await import('./change.ts');
      await setCordoned(names, false, options);
    });
}

function withCluster(command: Command): Command {
  return command.addOption(toCluster).addOption(ofContext).addOption(verbosely);
}

function addRemove(drives: Command): void {
  drives
    .command('remove')
    .argument('<drives...>', 'the names of the drives')
    .description('cordon drives without volumes, and remove their objects; nothing on the devices is erased')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives remove n1-b7f6c1de

A drive with volumes is refused, and they are listed. The node service unmounts the device. Exit status: 0 on success,
1 on an error or if a drive has volumes, 2 on wrong usage.`,
    )
    .action(async (names, options) => {
      const { removeDrives } = await import('./remove.ts');
      await removeDrives(names, options);
    });
}

function addForget(drives: Command): void {
  drives
    .command('forget')
    .argument('<target>', 'a drive that is dead, or a node that is gone for good')
    .description('show what is lost with a dead drive or node, and remove its Drives once that was reviewed')
    .option('--output-file <file>', 'only write the list of what is lost, for review')
    .option('--list <file>', 'act on this list, and on nothing else')
    .option('--yes', 'do not ask before the drives are removed')
    .addOption(toCluster)
    .addOption(ofContext)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage drives forget n1-b7f6c1de                   a dead drive of a node that works: shows what is lost, and asks
  stowage drives forget n1                            a node that is gone, with all of its drives
  stowage drives forget n1 --output-file lost.yaml    for review: which claims to delete
  stowage drives forget n1 --list lost.yaml

drive/NAME and node/NAME say which is meant. PersistentVolumes and claims are deleted only where the file says so. Nothing
on the device is erased. A node that still exists is refused, and so is a drive of it that is neither Lost nor in Error. Exit
status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (target, options) => {
      const { forget } = await import('./forget/forget.ts');
      await forget(target, options);
    });
}
