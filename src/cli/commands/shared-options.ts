import { Option } from 'commander';

/* The same flags, in the same words, wherever they are. */
export const verbosely = new Option(
  '--verbose',
  'say more on standard error: requests, decisions, causes of errors',
);
export const ofFormat = new Option('-o, --output <format>', 'table, wide, json, yaml or name').default(
  'table',
);
export const logFormat = new Option('--log-format <format>', 'text or json, on standard error').default(
  'text',
);
export const logLevel = new Option(
  '--log-level <level>',
  'debug, info, warn or error; --verbose is debug',
).default('info');
/* Which cluster: for commands that only read, for those that write, and for both. */
export const fromCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, ~/.kube/config, or that of this pod); rights to read are enough',
);
export const toCluster = new Option(
  '--kubeconfig <file>',
  'the cluster (default: KUBECONFIG, ~/.kube/config, or that of this pod)',
);
export const ofContext = new Option('--context <name>', 'a context of the kubeconfig');
export const fromFiles = new Option(
  '--from <path>',
  'read a file, a folder or - as kubectl get -o yaml writes them, instead of a cluster; may be repeated',
).argParser(collect);

/** For flags that may be repeated, or left out. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}
