import type { KubeObject } from '../../kube/api/meta.ts';
import { ownValue } from '../../kube/go/json-value.ts';
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
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { realClock } from '../../runtime/clock.ts';
import { connect } from '../source/connect.ts';
import { askedIn, type ExplainedKindName, type TypedSelection } from './typed-words.ts';

/** A user who pressed Tab does not wait longer. */
const patienceMs = 3_000;
/** A longer list is not useful. */
const namesMax = 500;

/**
 * `stowage __names`, for the completion scripts: prints names of objects in the cluster that the words typed so far select, one a line.
 * `wanted` is a `NamedThing`. It never prints an error, which would disturb the line that the user types.
 */
export async function printObjectNames(wanted: string, words: readonly string[]): Promise<void> {
  const asked = askedIn(words);
  const sources = sourcesOf(wanted, asked);
  if (sources.length === 0 || asked.readsFiles) return;
  const late = new AbortController();
  const timer = realClock.after(patienceMs, () => late.abort());
  try {
    process.stdout.write(linesOf(await namesIn(sources, asked, late.signal)));
  } catch {
    // Then nothing is offered; the command itself will report the error.
    process.exitCode = 1;
  } finally {
    timer.cancel();
  }
}

/** A kind of object, and what may be typed for one. */
interface NameSource {
  readonly resource: Resource;
  /** The default is the name, with the namespace if that is not the current one. */
  readonly words?: (object: KubeObject) => readonly string[];
}

function sourcesOf(wanted: string, { kind }: TypedSelection): readonly NameSource[] {
  const known = ownValue(namedSources, wanted);
  if (known !== undefined || wanted !== 'object') return known ?? [];
  return kind === undefined ? [] : [{ resource: explainedResources[kind] as Resource }];
}

const storageDisks: NameSource = {
  resource: storageNodes as Resource,
  words: ({ metadata, ...rest }) =>
    Object.keys((rest as StorageNode).spec?.disks ?? {}).map((disk) => `${metadata?.name}/${disk}`),
};

const namedSources: Readonly<Record<string, readonly NameSource[]>> = {
  namespace: [{ resource: namespaces as Resource }],
  class: [{ resource: storageClasses as Resource }],
  drive: [{ resource: drives as Resource }],
  node: [{ resource: nodes as Resource }],
  disk: [storageDisks],
  'node-or-disk': [withPrefix('node', storageNodes as Resource), storageDisks],
  'node-or-drive': [withPrefix('node', nodes as Resource), withPrefix('drive', drives as Resource)],
  'disks-target': [
    storageDisks,
    withPrefix('node', storageNodes as Resource),
    withPrefix('volume', diskVolumes as Resource),
    withPrefix('image', backingImages as Resource),
  ],
  // Each name includes its namespace: the flag does not use a namespace that was typed before.
  workload: [
    withNamespace('sts', statefulSets as Resource),
    withNamespace('deployment', deployments as Resource),
    withNamespace('rs', replicaSets as Resource),
  ],
  'stateful-set': [withNamespace('sts', statefulSets as Resource)],
  'disk-volume': [{ resource: diskVolumes as Resource }],
  image: [{ resource: backingImages as Resource }],
};

function withPrefix(prefix: string, resource: Resource): NameSource {
  return { resource, words: ({ metadata }) => [`${prefix}/${metadata?.name}`] };
}

function withNamespace(prefix: string, resource: Resource): NameSource {
  return { resource, words: ({ metadata }) => [`${prefix}/${metadata?.namespace}/${metadata?.name}`] };
}

const explainedResources = {
  pod: pods,
  claim: persistentVolumeClaims,
  deployment: deployments,
  statefulset: statefulSets,
  replicaset: replicaSets,
} as const satisfies { readonly [K in ExplainedKindName]: unknown };

async function namesIn(
  sources: readonly NameSource[],
  asked: TypedSelection,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using cluster = await connect(asked, { rateLimit: false, requestTimeoutMs: patienceMs });
  const own = asked.namespace ?? cluster.namespace;
  const lists = sources.map(async ({ resource, words }) => {
    const { items } = await cluster
      .resource(resource)
      .list({ namespace: asked.namespace, limit: namesMax, signal });
    return items.flatMap((object) => words?.(object) ?? [nameOf(object.metadata, own)]);
  });
  const settled = await Promise.allSettled(lists);
  const [failed] = settled.flatMap((list) => (list.status === 'rejected' ? [list] : []));
  // A user who may list one of the kinds gets its names.
  if (failed !== undefined && settled.every(({ status }) => status === 'rejected')) throw failed.reason;
  return settled.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
}

/** The name as the user must type it: with its namespace if that is not the current one. */
function nameOf({ namespace, name = '' }: NonNullable<KubeObject['metadata']> = {}, own: string): string {
  return namespace === undefined || namespace === own ? name : `${namespace}/${name}`;
}

/**
 * The characters of names in Kubernetes, and the slash between parts. A shell evaluates other characters, such as `$(…)`:
 * a server that sends them would run commands when the user presses Tab. A leading dash would be a flag.
 */
const completableName = /^[a-zA-Z0-9][a-zA-Z0-9._/-]*$/;

function linesOf(names: readonly string[]): string {
  return names
    .filter((name) => completableName.test(name))
    .map((name) => `${name}\n`)
    .join('');
}
