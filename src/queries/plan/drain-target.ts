import { QuestionError } from '../question-error.ts';

/** The object that is to be emptied. */
export interface DrainTarget {
  readonly kind: 'node' | 'drive';
  readonly name: string;
}

/** `NODE`, `node/NAME` or `drive/NAME`; `kubectl get -o name` prints the last two. Throws a `QuestionError` that begins with `flag`. */
export function drainTargetOf(text: string, flag = ''): DrainTarget {
  const [prefix = '', ...rest] = text.split('/');
  const [name = ''] = rest;
  if (rest.length === 0 && prefix !== '') return { kind: 'node', name: prefix };
  if (rest.length === 1 && name !== '') {
    if (/^(nodes?|no)$/i.test(prefix)) return { kind: 'node', name };
    if (/^drives?(\.stowage\.dev)?$/i.test(prefix)) return { kind: 'drive', name };
  }
  throw new QuestionError(`${flag}"${text}" must be NODE, node/NAME or drive/NAME`);
}

export function drainTargetText({ kind, name }: DrainTarget): string {
  return `${kind}/${name}`;
}
