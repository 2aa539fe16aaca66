import { type Command, Option } from 'commander';
import { fromCluster, ofContext, verbosely } from '../flags/shared-options.ts';

export function addBundle(program: Command): void {
  program
    .command('bundle')
    .description('collect the state of a cluster, logs and metrics of Stowage into one file, without secrets')
    .option('--output-file <file>', 'the file to write, such as bundle.tar.gz; - for standard output')
    // As other tools for bundles call it; elsewhere in this program it is a format.
    .addOption(new Option('--output <file>').hideHelp())
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage bundle --output-file bundle.tar.gz
  tar -xzOf bundle.tar.gz stowage-bundle/manifest.json      what is in it, and what could not be read
  tar -xzf bundle.tar.gz && stowage explain --from stowage-bundle/objects

Secrets and ConfigMaps are never read. Values of environment variables, annotations of others, settings of drivers, users
and queries of URLs, and everything that looks like a token, password or key are removed. Look at it before you share it.

Exit status: 0 on success, 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { bundle } = await import('./run.ts');
      await bundle(options);
    });
}
