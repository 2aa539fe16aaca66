import type { WhatIfChange, WorkloadReference } from '../../engine/what-if/change.ts';
import { parseQuantity, quantityToNano } from '../../kube/quantities/quantity.ts';
import { accessTierNames } from '../../kube/stowage/drive.ts';
import { workloadKinds } from '../explain/pending/explain-many.ts';
import { QuestionError } from '../question-error.ts';
import { drainTargetOf } from './drain-target.ts';

/** Changes in the words of the flags of `stowage plan`. Each may be repeated, except `--add-nodes`, which `--like` belongs to. */
export interface ChangeWords {
  readonly drain?: readonly string[];
  readonly addNodes?: string;
  readonly like?: string;
  readonly addDrive?: readonly string[];
  readonly replicas?: readonly string[];
}

/** The changes that the words ask for. Throws a `QuestionError` that names the flag. */
export function changesOfWords(flags: ChangeWords, namespace: string): readonly WhatIfChange[] {
  return [
    ...(flags.drain ?? []).map(drainOf),
    ...addNodesOf(flags),
    ...(flags.addDrive ?? []).map(addDriveOf),
    ...(flags.replicas ?? []).map((text) => replicasOf(text, namespace)),
  ];
}

function drainOf(text: string): WhatIfChange {
  const { kind, name } = drainTargetOf(text, '--drain: ');
  return kind === 'node' ? { kind: 'drain-node', node: name } : { kind: 'drain-drive', drive: name };
}

function addNodesOf({ addNodes, like }: ChangeWords): readonly WhatIfChange[] {
  if (addNodes === undefined) {
    if (like !== undefined) throw new QuestionError('--like: belongs to --add-nodes, which is missing');
    return [];
  }
  if (like === undefined)
    throw new QuestionError('--add-nodes: --like is missing; it names the node that the new ones are like');
  return [{ kind: 'add-nodes', count: countOf('--add-nodes', addNodes, 1), like }];
}

/** `NODE=SIZE` or `NODE=SIZE:TIER`. */
function addDriveOf(text: string): WhatIfChange {
  const [node, rest = ''] = splitOnce(text, '=');
  const [size, tier] = splitOnce(rest, ':');
  const quantity = parseQuantity(size);
  const bytes = quantity.ok ? Number(quantityToNano(quantity.quantity)) / 1e9 : Number.NaN;
  if (node === '' || !(bytes > 0))
    throw new QuestionError(
      `--add-drive: "${text}" must be NODE=SIZE or NODE=SIZE:TIER with a size above 0, for example n1=2Ti:Hot`,
    );
  if (tier !== undefined && !accessTierNames.some((name) => name === tier))
    throw new QuestionError(`--add-drive: tier "${tier}" must be one of ${accessTierNames.join(', ')}`);
  return { kind: 'add-drive', node, bytes: Math.floor(bytes), tier };
}

/** `KIND/NAME=COUNT` or `KIND/NAMESPACE/NAME=COUNT`. */
function replicasOf(text: string, namespace: string): WhatIfChange {
  const [what, count] = splitOnce(text, '=');
  if (count === undefined)
    throw new QuestionError(`--replicas: "${text}" must be KIND/NAME=COUNT or KIND/NAMESPACE/NAME=COUNT`);
  return {
    kind: 'scale',
    workload: workloadOf('--replicas', what, namespace),
    replicas: countOf('--replicas', count, 0),
  };
}

/** `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
export function workloadOf(
  flag: string,
  text: string,
  namespace: string,
  kinds = 'sts, deployment or rs',
): WorkloadReference {
  const [kindText = '', ...names] = text.split('/');
  const lower = kindText.toLowerCase();
  const kind = Object.hasOwn(workloadKinds, lower) ? workloadKinds[lower] : undefined;
  const [name = '', before] = names.toReversed();
  if (kind === undefined || name === '' || names.length > 2)
    throw new QuestionError(
      `${flag}: "${text}" must be KIND/NAME or KIND/NAMESPACE/NAME, where KIND is ${kinds}`,
    );
  return { kind, namespace: before ?? namespace, name };
}

const countMax = 100_000;

function countOf(flag: string, text: string, least: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < least || count > countMax)
    throw new QuestionError(`${flag}: "${text}" must be a whole number from ${least} to ${countMax}`);
  return count;
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
