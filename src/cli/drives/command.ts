import type { Command } from 'commander';
import { addChanges } from './command-changes.ts';
import { addDiscover, addInit, addMove, addRepair } from './command-devices.ts';
import { addForget, addRemove } from './command-removal.ts';
import { addInfo, addList } from './command-views.ts';

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
