import type { Command } from 'commander';
import { addCapacityOptions } from './capacity-options.ts';
import { collect } from './shared-options.ts';

/** Adds the flags of `up` and `run` for CSI drivers. */
export function addCsiOptions(command: Command): Command {
  const withDrivers = command
    .option(
      '--csi-address <address>',
      'serve the CSI driver whose controller service listens at unix:///PATH; may be repeated',
      collect,
    )
    .option('--csi-timeout <seconds>', 'the deadline of each call to a CSI driver (default: 10)');
  return addCapacityOptions(withDrivers);
}

/** Adds the flags of `run` for drivers of which one runs on each node. */
export function addNodeDeploymentOptions(command: Command): Command {
  return command
    .option(
      '--node-deployment',
      'the CSI driver serves one node, and so does this process; without leader election',
    )
    .option('--node-name <name>', 'the node of this process, for --node-deployment');
}
