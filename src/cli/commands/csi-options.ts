import { type Command, Option } from 'commander';
import { addCapacityOptions } from './capacity-options.ts';
import { collect } from './shared-options.ts';

/** Adds the flags of `up` and `run` for CSI drivers. */
export function addCsiOptions(command: Command): Command {
  const withDrivers = command
    .option(
      '--csi-address <address>',
      'serve the CSI driver at unix:///PATH; may be repeated; docs/csi-drivers.md has more flags for it',
      collect,
    )
    .option('--csi-timeout <seconds>', 'the deadline of each call to a CSI driver (default: 10)');
  for (const option of provisioningOptions()) withDrivers.addOption(option.hideHelp());
  return addCapacityOptions(withDrivers);
}

/** Not in the help, which has to fit on a screen: docs/csi-drivers.md explains them beside those of external-provisioner. */
function provisioningOptions(): readonly Option[] {
  return [
    new Option('--strict-topology', 'create volumes with the topology of the selected node alone'),
    new Option('--immediate-topology [bool]', 'for immediate binding, name the topology of the cluster'),
    new Option('--extra-create-metadata', 'give drivers the names of claim and volume as parameters'),
    new Option('--default-fstype <type>', 'the file system of classes that name none'),
  ];
}

/** Adds the flags of `run` for drivers of which one runs on each node. */
export function addNodeDeploymentOptions(command: Command): Command {
  return command
    .option(
      '--node-deployment',
      'the CSI driver serves one node, and so does this process; without leader election',
    )
    .option('--node-name <name>', 'the node of this process (--node-deployment, disk-agent)');
}
