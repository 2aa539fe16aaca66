import { type Command, Option } from 'commander';
import { addCapacityOptions } from './capacity-options.ts';
import { collect } from './shared-options.ts';

/** Adds the flags of `up` and `run` for CSI drivers. */
export function addCsiOptions(command: Command): Command {
  const withDrivers = command
    .option(
      '--csi-address <address>',
      'a CSI driver at unix:///PATH; repeatable; docs/csi-drivers.md',
      collect,
    )
    .option('--csi-timeout <seconds>', 'the deadline of each call to a CSI driver (default: 10)');
  for (const option of provisioningOptions()) withDrivers.addOption(option);
  return addCapacityOptions(withDrivers);
}

/** The names of external-provisioner: docs/csi-drivers.md explains them beside its own. */
function provisioningOptions(): readonly Option[] {
  return [
    new Option('--strict-topology', 'offer drivers only the topology of the selected node'),
    new Option('--immediate-topology [bool]', 'binding immediately: offer all topology (default: true)'),
    // The help has to fit on a screen; docs/csi-drivers.md explains these two.
    new Option(
      '--extra-create-metadata',
      'give drivers the names of claim and volume as parameters',
    ).hideHelp(),
    new Option('--default-fstype <type>', 'the file system of classes that name none').hideHelp(),
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
