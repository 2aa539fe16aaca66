import type { Command } from 'commander';

/** Adds the flags of `up` and `run` for the published capacity of CSI drivers. Most have the names and meanings of external-provisioner's. */
export function addCapacityOptions(command: Command): Command {
  return command
    .option('--capacity-form <kind>', 'CSIStorageCapacity (default) or DriverCapacity')
    .option('--capacity-poll-interval <time>', 'how often drivers are asked at least (default: 1m)')
    .option('--capacity-for-ephemeral', 'also for inline volumes, as DriverCapacity')
    .option('--capacity-for-immediate-binding', 'also for classes that bind immediately')
    .option('--capacity-topology-prefix <prefix>', 'use only topology keys with this prefix')
    .option('--capacity-ownerref-level <n>', 'the owner: 0 this pod, 1 its controller (default), -1 none')
    .option('--capacity-threads <n>', 'calls of GetCapacity at once, per driver (default: 4)');
}
