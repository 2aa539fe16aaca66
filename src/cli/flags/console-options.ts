import type { Command } from 'commander';
import { collect } from './shared-options.ts';

/** The flags of commands that serve the console on a separate port. */
export function consoleServerOptions(command: Command, addressDefault: string): Command {
  return command
    .option('--console-address <host:port>', `where the console listens (default: ${addressDefault})`)
    .option(
      '--console-host <name>',
      'a name by which browsers reach the console, besides addresses and localhost; may be repeated',
      collect,
    )
    .option(
      '--console-tls-cert <file>',
      'the certificate of the console, PEM (default: one is made at each start)',
    )
    .option('--console-tls-key <file>', 'its key');
}
