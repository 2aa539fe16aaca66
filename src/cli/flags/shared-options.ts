import { Option } from 'commander';

/* Flags that several commands share. */
export const verbosely = new Option('--verbose', 'log more on standard error: requests, decisions, causes');
export const ofFormat = new Option('-o, --output <format>', 'table, wide, json, yaml or name').default(
  'table',
);
export const logFormat = new Option('--log-format <format>', 'text or json, on standard error').default(
  'text',
);
export const logLevel = new Option('--log-level <level>', 'debug (--verbose), info, warn or error').default(
  'info',
);
export const watching = new Option(
  '-w, --watch',
  'answer again whenever the cluster changes, in place on a terminal, until Ctrl-C',
);
export const byRules = new Option(
  '--profile <name>',
  'the rules to apply: stowage or upstream (default: those of the scheduler that places most pods)',
);
/* The cluster: for commands that only read, for commands that write, and for both. */
export const fromCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, ~/.kube/config, or the pod it runs in); read access is enough',
);
export const toCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, ~/.kube/config, or the pod it runs in)',
);
export const ofContext = new Option('--context <name>', 'the context of the kubeconfig to use');
export const fromFiles = new Option(
  '--from <path>',
  'read objects from a file, a folder or - (output of kubectl get -o yaml) instead of a cluster; with --kubeconfig or --context: what if the cluster had them; may be repeated',
).argParser(collect);

/** Collects the values of a flag that may be repeated. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}
