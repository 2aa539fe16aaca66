import type { Command } from 'commander';
import {
  byRules,
  collect,
  fromCluster,
  fromFiles,
  ofContext,
  ofFormat,
  verbosely,
} from '../flags/shared-options.ts';

export function addPlan(program: Command): void {
  program
    .command('plan')
    .description(
      'predict what a change does to pods and volumes: who moves, who is stranded and why, what must be copied; nothing is written',
    )
    .option('--drain <object>', 'NODE, node/NAME or drive/NAME; may be repeated', collect)
    .option('--add-nodes <count>', 'new nodes, all like the node that --like names')
    .option('--like <node>', 'the node that new nodes are like: labels, taints, size, drives, DaemonSet pods')
    .option('--add-drive <drive>', 'NODE=SIZE or NODE=SIZE:TIER; may be repeated', collect)
    .option(
      '--replicas <workload>',
      'KIND/[NAMESPACE/]NAME=COUNT, of a statefulset, deployment or replicaset; may be repeated',
      collect,
    )
    .option(
      '--apply <path>',
      'objects that would be applied: a file, a folder or -; may be repeated',
      collect,
    )
    .option(
      '--changes <file>',
      'a YAML list of changes with the names of these flags, such as "- drain: node/n1"',
    )
    .option('-n, --namespace <name>', 'the namespace of names and files without one')
    .addOption(byRules)
    .addOption(fromCluster)
    .addOption(ofContext)
    .addOption(fromFiles)
    .addOption(ofFormat)
    .addOption(verbosely)
    .addHelpText(
      'after',
      `
Examples:
  stowage plan --drain n1                            can this node be emptied?
  stowage plan --drain node/n1 --drain node/n2 --add-nodes 2 --like n3
  stowage plan --drain drive/n1-b7f6 --add-drive n1=2Ti:Hot
  stowage plan --replicas sts/shop/db=9 --apply new-service.yaml
  stowage plan --drain node/n1 -o json | jq '.stranded[].pod'

Exit status: 0 if every pod that the change moves or creates gets a node, 3 if one is stranded, a drive cannot be emptied,
or not everything on what is drained could be read; if the change only adds nodes and drives, 3 if a pod stays pending; 1 on an error, 2 on wrong usage.`,
    )
    .action(async (options) => {
      const { planCommand } = await import('./run.ts');
      await planCommand(options);
    });
}
