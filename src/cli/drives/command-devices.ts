import { type Command, Option } from 'commander';
import { collect, ofContext, ofFormat, toCluster, verbosely } from '../flags/shared-options.ts';

const nodeName = new Option(
  '--node-name <name>',
  'the Node of this machine (default: the name of the machine in lowercase)',
);

export function addDiscover(drives: Command): void {
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

export function addInit(drives: Command): void {
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

export function addRepair(drives: Command): void {
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

export function addMove(drives: Command): void {
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
