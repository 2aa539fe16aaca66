import type { KubeObject } from '../../kube/api/meta.ts';
import { drives } from '../../kube/drive.ts';
import type { Resource } from '../../kube/resource.ts';
import {
  deployments,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  replicaSets,
  statefulSets,
  storageClasses,
} from '../../kube/resources.ts';
import { realClock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { connect } from '../connect.ts';
import { askedIn, type ExplainedKindName, type TypedSelection } from './typed-words.ts';

/** A user who pressed Tab does not wait longer. */
const patienceMs = 3_000;
/** A longer list is not useful. */
const namesMax = 500;

/**
 * `stowage __names`, for the completion scripts: prints names of objects in the cluster that the words typed so far select, one a line.
 * `wanted` is `object` for the argument of `explain`, or `namespace`, `class`, `drive` or `node`. It never prints an error, which would disturb the line that
 * the user types.
 */
export async function printObjectNames(wanted: string, words: readonly string[]): Promise<void> {
  const asked = askedIn(words);
  const resource = resourceOf(wanted, asked);
  if (resource === undefined || asked.readsFiles) return;
  const late = new AbortController();
  const timer = realClock.after(patienceMs, () => late.abort());
  try {
    process.stdout.write(linesOf(await namesIn(resource, asked, late.signal)));
  } catch {
    // Then nothing is offered; the command itself will report the error.
    process.exitCode = 1;
  } finally {
    timer.cancel();
  }
}

function resourceOf(wanted: string, { kind }: TypedSelection): Resource | undefined {
  if (wanted === 'namespace') return namespaces as Resource;
  if (wanted === 'class') return storageClasses as Resource;
  if (wanted === 'drive') return drives as Resource;
  if (wanted === 'node') return nodes as Resource;
  if (wanted !== 'object') return undefined;
  return kind === undefined ? undefined : (explainedResources[kind] as Resource);
}

const explainedResources = {
  pod: pods,
  claim: persistentVolumeClaims,
  deployment: deployments,
  statefulset: statefulSets,
  replicaset: replicaSets,
} as const satisfies { readonly [K in ExplainedKindName]: unknown };

async function namesIn(
  resource: Resource,
  asked: TypedSelection,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using cluster = await connect(asked, { rateLimit: false, requestTimeoutMs: patienceMs });
  const { items } = await cluster
    .resource(resource)
    .list({ namespace: asked.namespace, limit: namesMax, signal });
  const own = asked.namespace ?? cluster.namespace;
  return items.map(({ metadata }) => nameOf(metadata, own));
}

/** The name as the user must type it: with its namespace if that is not the current one. */
function nameOf({ namespace, name = '' }: NonNullable<KubeObject['metadata']> = {}, own: string): string {
  return namespace === undefined || namespace === own ? name : `${namespace}/${name}`;
}

function linesOf(names: readonly string[]): string {
  return names.map((name) => `${printableText(name)}\n`).join('');
}
