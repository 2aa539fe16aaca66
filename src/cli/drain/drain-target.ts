import { usage } from '../errors/cli-error.ts';

/** What is to be emptied. */
export interface DrainTarget {
  readonly kind: 'node' | 'drive';
  readonly name: string;
}

const prefixes: Readonly<Record<string, DrainTarget['kind']>> = {
  node: 'node',
  nodes: 'node',
  no: 'node',
  drive: 'drive',
  drives: 'drive',
  'drive.stowage.dev': 'drive',
};

/** `NODE`, `node/NAME` or `drive/NAME`; `kubectl get -o name` prints the last two. */
export function drainTargetOf(text: string): DrainTarget {
  const [prefix = '', ...rest] = text.split('/');
  const [name = ''] = rest;
  if (rest.length === 0 && prefix !== '') return { kind: 'node', name: prefix };
  const kind = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined;
  if (kind === undefined || rest.length !== 1 || name === '')
    throw usage(`"${text}" must be NODE, node/NAME or drive/NAME`);
  return { kind, name };
}

export function drainTargetText({ kind, name }: DrainTarget): string {
  return `${kind}/${name}`;
}
