import type { Command } from 'commander';
import { collect } from './shared-options.ts';

/** Adds the flags of `up` and `run` for CSI drivers. */
export function addCsiOptions(command: Command): Command {
  return command
    .option(
      '--csi-address <address>',
      'serve the CSI driver whose controller service listens at unix:///PATH; may be repeated',
      collect,
    )
    .option('--csi-timeout <seconds>', 'the deadline of each call to a CSI driver (default: 10)');
}
