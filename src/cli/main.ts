#!/usr/bin/env node
import { Command, CommanderError, Option } from 'commander';
import { CliError } from './cli-error.ts';
import { errorText } from './error-text.ts';
import { packageVersion } from './package-version.ts';

/** Exit status 2 is for calls we don't understand, as in most Unix tools. */
const usageError = 2;
/** Longer lines don't read well. */
const helpWidthMax = 100;
/** Of what flags do, beside their names; narrower, lines are let run over. */
const helpWidthMin = 20;

const program = new Command('stowage')
  .description('Decides where Kubernetes pods and their volumes go, together.')
  .version(packageVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .configureHelp({
    helpWidth: Math.min(process.stdout.columns ?? helpWidthMax, helpWidthMax),
    minWidthToWrap: helpWidthMin,
  })
  .showSuggestionAfterError()
  .showHelpAfterError('see stowage --help')
  .exitOverride();

/* The same flags everywhere. */
const verbosely = new Option(
  '--verbose',
  'say more on standard error: requests, decisions, causes of errors',
);
const ofFormat = new Option('-o, --output <format>', 'table, wide, json, yaml or name').default('table');
const logFormat = new Option('--log-format <format>', 'text or json, on standard error').default('text');
const logLevel = new Option('--log-level <level>', 'debug, info, warn or error; --verbose is debug').default(
  'info',
);
/* Where commands that only read look. */
const fromCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, or ~/.kube/config); rights to read are enough',
);
const toCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, ~/.kube/config, or that of this pod)',
);
const ofContext = new Option('--context <name>', 'a context of the kubeconfig');
const fromFiles = new Option(
  '--from <path>',
  'read a file, a folder or - as kubectl get -o yaml writes them, instead of a cluster; may be repeated',
).argParser(collectOptional);

program
  .command('up')
  .description('start a Kubernetes API server on this machine; kubectl talks to it')
  .option('--data <dir>', 'where everything is kept', '.stowage')
  .option('--port <n>', 'the port of the API; 0 picks a free one', '7443')
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--kubeconfig <file>', 'where to write the kubeconfig (default: kubeconfig in the data directory)')
  .option('--controllers <list>', 'which controllers run: *, none, names, or -name for all but that', '*')
  .option('--feature-gates <list>', 'what to switch, such as VolumeScheduling=false', '')
  .option('--no-console', 'do not serve the web console')
  .option('--demo', 'load a small zoned cluster with pods that run and pods that fit nowhere')
  .option('--fresh', 'delete what the data directory holds and start over')
  .addOption(logFormat)
  .addOption(logLevel)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage up                          data in .stowage, port 7443
  stowage up --demo                   with something to look at
  stowage up --port 0 --data /tmp/a   a second one beside it
  stowage up --controllers none       a bare API server, as kube-apiserver alone would be

When it answers, it prints the line that makes kubectl talk to it:
  export KUBECONFIG=/path/to/kubeconfig
It ends with Ctrl-C; the next start goes on where this one was.`,
  )
  .action(async (options) => {
    const { up } = await import('./up.ts');
    await up(options);
  });

program
  .command('run')
  .description('run controllers on a cluster that is there; as many replicas as you like, one leads')
  .addOption(toCluster)
  .addOption(ofContext)
  .option('--config <file>', 'a StowageConfiguration; flags win over what it says')
  .option(
    '--controllers <list>',
    'which controllers run: names, *, or -name for all but that (default: scheduler; Kubernetes has the others)',
  )
  .option(
    '--scheduler-name <name>',
    'schedule the pods that name it in spec.schedulerName; may be repeated (default: stowage)',
    collectOptional,
  )
  .option(
    '--profile <name>',
    'what to decide by: stowage, or upstream for the verdicts of kube-scheduler (default: stowage)',
  )
  .option(
    '--leader-elect [bool]',
    'run only while holding the Lease (default); --leader-elect=false runs at once',
  )
  .option('--http-address <host:port>', 'serve /healthz, /readyz and /metrics here')
  .option('--feature-gates <list>', 'what to switch, such as VolumeScheduling=false')
  .addOption(logFormat)
  .addOption(logLevel)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage run                                       the scheduler, for pods with schedulerName: stowage
  stowage run --kubeconfig admin.conf --scheduler-name stowage --scheduler-name batch
  stowage run --config stowage.yaml --http-address :9808

Leases are in kube-system, stowage-NAME for each controller. It ends with Ctrl-C and gives them back.`,
  )
  .action(async (options) => {
    const { run } = await import('./run.ts');
    await run(options);
  });

program
  .command('extender')
  .description("answer a kube-scheduler: which nodes a pod's volumes admit, in its extender protocol")
  .addOption(toCluster)
  .addOption(ofContext)
  .option('--listen <address:port>', 'where to listen; port 0 picks a free one', '127.0.0.1:8900')
  .option('--data <dir>', 'where the certificate is kept that it makes for itself', '.stowage-extender')
  .option('--tls-host <name>', 'another name for that certificate; may be repeated', collect, [])
  .option('--tls-cert <file>', 'a certificate of your own, with --tls-key')
  .option('--tls-key <file>', 'the key of --tls-cert')
  .option('--client-ca <file>', 'answer only callers with a certificate of this authority, and bind for them')
  .option('--insecure', 'plain HTTP, for trying things out; nobody may bind')
  .option('--all-rules', 'judge nodes by all rules, not only those about volumes')
  .option('--hold-seconds <n>', 'how long room is kept for a pod that nothing is heard of', '30')
  .addOption(logFormat)
  .addOption(logLevel)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage extender --kubeconfig admin.conf
  stowage extender --listen :8900 --tls-host stowage.kube-system.svc --client-ca ca.crt

kube-scheduler is told of it in its configuration file; see examples/extender/kube-scheduler.yaml.`,
  )
  .action(async (options) => {
    const { extender } = await import('./extender.ts');
    await extender(options);
  });

program
  .command('explain')
  .description('why a pod is pending and what would help, or why it is where it is; the same for a claim')
  .argument('<kind>', 'pod or claim')
  .argument('[name]', 'its name, or NAMESPACE/NAME; KIND/NAME does as well')
  .option('-n, --namespace <name>', 'its namespace (default: that of the context, or default)')
  .addOption(fromCluster)
  .addOption(ofContext)
  .addOption(fromFiles)
  .option('--profile <name>', "whose rules: stowage or upstream (default: by the pod's schedulerName)")
  .addOption(ofFormat)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage explain pod db-0 -n shop          why is it pending?
  stowage explain claim shop/data-db-0      what does it wait for?
  kubectl get nodes,pods,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities -A -o json |
    stowage explain pod shop/db-0 --from -
  kubectl describe $(stowage explain pod shop/db-0 -o name)     the node that it is on, or would go to

Exit status: 0 it fits or has its place, 3 it does not, 1 an error, 2 a call that makes no sense.`,
  )
  .action(async (kind, name, options) => {
    const { explain } = await import('./explain/explain.ts');
    await explain(kind, name, options);
  });

program
  .command('reservations')
  .description(
    'who holds what: volumes of claims, claims in flight, what pools have promised, nominated pods',
  )
  .option('-n, --namespace <name>', 'only what claims and pods of this namespace hold (default: all)')
  .addOption(fromCluster)
  .addOption(ofContext)
  .addOption(fromFiles)
  .addOption(ofFormat)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage reservations                     everything that is held or promised
  stowage reservations -n shop -o wide     of one namespace, with classes, phases and pods
  stowage reservations -o name | xargs -L1 stowage explain

Exit status: 0 an answer, 1 an error, 2 a call that makes no sense.`,
  )
  .action(async (options) => {
    const { reservations } = await import('./reservations/reservations.ts');
    await reservations(options);
  });

program
  .command('capacity')
  .description('how much room there is for volumes, by class, pool and node, and how much of it is promised')
  .option('--class <name>', 'only what belongs to this StorageClass')
  .addOption(fromCluster)
  .addOption(ofContext)
  .addOption(fromFiles)
  .addOption(ofFormat)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage capacity                   classes, pools and existing volumes, with bars on a terminal
  stowage capacity --class fast -o json
  kubectl get nodes,pvc,pv,sc,csidrivers,csistoragecapacities -A -o json | stowage capacity --from -

Exit status: 0 an answer, 1 an error, 2 a call that makes no sense.`,
  )
  .action(async (options) => {
    const { capacity } = await import('./capacity/capacity.ts');
    await capacity(options);
  });

program
  .command('upgrade-zonal-pvs')
  .description(
    'give zonal volumes that only have labels a node affinity; shows what it would do unless told otherwise',
  )
  .addOption(toCluster)
  .addOption(ofContext)
  .option('--dry-run [bool]', 'only show; --dry-run=false writes', true)
  .addOption(ofFormat)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  stowage upgrade-zonal-pvs                   what would be done
  stowage upgrade-zonal-pvs --dry-run=false   do it

Exit status: 0 all of it was done or would be, 1 an error or a volume that has to be corrected first, 2 a call
that makes no sense.`,
  )
  .action(async (options) => {
    const { upgradeZonalPvs } = await import('./upgrade-zonal-pvs.ts');
    await upgradeZonalPvs(options);
  });

program
  .command('kubeconfig')
  .description('print a kubeconfig for a service account, with a token that ends by itself')
  .argument('<account>', 'its name, or NAMESPACE/NAME')
  .option('-n, --namespace <name>', 'its namespace (default: that of the context, or default)')
  .option('--duration <time>', 'how long the token lasts, such as 90m, 24h or 7d; 10m at least', '24h')
  .option('--to <file>', 'write it here, for you alone to read, instead of printing it')
  .addOption(toCluster)
  .addOption(ofContext)
  .addOption(verbosely)
  .addHelpText(
    'after',
    `
Examples:
  kubectl create serviceaccount robot -n shop
  kubectl create rolebinding robot --clusterrole=view --serviceaccount=shop:robot -n shop
  stowage kubeconfig robot -n shop --to robot.kubeconfig
  kubectl --kubeconfig robot.kubeconfig get pods

The token cannot be taken back but by deleting the service account.

Exit status: 0 it is there, 1 an error, 2 a call that makes no sense.`,
  )
  .action(async (account, options) => {
    const { kubeconfig } = await import('./kubeconfig/kubeconfig.ts');
    await kubeconfig(account, options);
  });

program
  .command('completion')
  .description('print what makes a shell complete the commands, flags and values of stowage')
  .argument('<shell>', 'bash, zsh or fish')
  .addHelpText(
    'after',
    `
Examples:
  source <(stowage completion bash)                                       this shell; ~/.bashrc for all
  stowage completion zsh > "\${fpath[1]}/_stowage"
  stowage completion fish > ~/.config/fish/completions/stowage.fish`,
  )
  .action(async (shell) => {
    const { completion } = await import('./completion/completion.ts');
    completion(shell, program);
  });

program
  .command('__names', { hidden: true })
  .argument('<wanted>')
  .argument('[words...]')
  .action(async (wanted, words) => {
    const { printObjectNames } = await import('./completion/object-names.ts');
    await printObjectNames(wanted, words);
  });

// Whoever reads may have seen enough, as in `stowage capacity | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

let isVerbose = false;
program.hook('preAction', (_, command) => {
  isVerbose = command.opts().verbose === true;
});
try {
  await program.parseAsync();
} catch (error) {
  // Not only the status: what was begun before it failed may not come to an end.
  process.exit(report(error));
}

/** For flags that may be repeated. */
function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}

/** The same for a flag that may be left out. */
function collectOptional(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}

function report(error: unknown): number {
  // Commander has printed its own complaints, and help, by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
  process.stderr.write(errorText(error, isVerbose));
  return error instanceof CliError ? error.exitCode : 1;
}
