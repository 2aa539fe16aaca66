import type { ExplainPodOptions } from '../../queries/explain/explain-pod.ts';
import { explainTarget, missingNotesOf } from '../../queries/explain/explain-target.ts';
import type { Explanation } from '../../queries/explain/explanation.ts';
import type { ClusterView, Target } from '../../queries/view/cluster-view.ts';
import { realClock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { usage } from '../errors/cli-error.ts';
import { profileFlag } from '../flags/profile-flag.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import type { Terminal } from '../output/terminal.ts';
import type { LoadedView, SourceFlags } from '../source/load-cluster-view.ts';
import { answerOrWatch, type WatchFlags } from '../watch/answer-or-watch.ts';
import { namespacedName } from './namespaced-name.ts';
import { askedForMany, explainMany } from './pending/run.ts';
import { renderClaim } from './render-claim.ts';
import { renderPod } from './render-pod.ts';

export interface ExplainFlags extends SourceFlags, WatchFlags {
  readonly namespace?: string;
  readonly output: string;
  readonly profile?: string;
}

/** `stowage explain`: prints the explanation and sets the exit status. */
export async function explainCommand(
  kind: string | undefined,
  name: string | undefined,
  flags: ExplainFlags,
): Promise<void> {
  const format = outputFormatOf(flags.output);
  const options: ExplainPodOptions = { nowMs: realClock.nowMs(), profile: profileFlag(flags.profile) };
  const many = askedForMany(kind, name, flags.namespace);
  if (many !== undefined || kind === undefined)
    return await explainMany(many ?? { kind: 'pods', namespace: flags.namespace }, flags, {
      ...options,
      format,
    });
  const asked = askedFor(...kindAndName(kind, name), flags);
  const about = { namespace: asked.namespace, name: asked.name };
  await answerOrWatch(flags, about, (loaded, terminal, onProgress) => {
    const { view, target, where } = targetIn(asked, loaded);
    onProgress('looking for what would help');
    const explanation = explainTarget(view, target, { ...options, nowMs: realClock.nowMs(), where });
    return { text: rendered(explanation, format, terminal), exitCode: exitCodeOf(explanation) };
  });
}

/** The namespace is undefined if the user gave none. */
interface Asked {
  readonly kind: Target['kind'];
  readonly namespace: string | undefined;
  readonly name: string;
}

const kinds: Readonly<Record<string, Target['kind']>> = {
  pod: 'pod',
  pods: 'pod',
  po: 'pod',
  claim: 'claim',
  claims: 'claim',
  pvc: 'claim',
  persistentvolumeclaim: 'claim',
  persistentvolumeclaims: 'claim',
};

/** Common kinds that cannot be explained. A text before a slash that is none of them is a namespace. */
const otherKinds = /^(nodes?|no|persistentvolumes?|pv|storageclass(es)?|sc|daemonsets?|ds|jobs?)$/i;

/** Accepts `pod db-0`, `pod/db-0` as kubectl does, and the name of a pod alone: `db-0` or `shop/db-0`. */
export function kindAndName(kind: string, name: string | undefined): readonly [kind: string, name: string] {
  if (name !== undefined) return [kind, name];
  const slash = kind.indexOf('/');
  const before = slash < 0 ? kind : kind.slice(0, slash);
  const isKind = kindOf(before) !== undefined || otherKinds.test(before);
  if (!isKind) return ['pod', kind];
  if (slash < 0)
    throw usage(`"${kind}" is a kind, and the name is missing; write ${kind} NAME or ${kind}/NAME`);
  return [before, kind.slice(slash + 1)];
}

function kindOf(text: string): Target['kind'] | undefined {
  const lower = text.toLowerCase();
  return Object.hasOwn(kinds, lower) ? kinds[lower] : undefined;
}

function askedFor(kindText: string, nameText: string, { namespace }: ExplainFlags): Asked {
  const kind = kindOf(kindText);
  if (kind === undefined)
    throw usage(
      `"${kindText}" cannot be explained; the kind must be pod, claim, deployment, statefulset or replicaset`,
    );
  return { kind, ...namespacedName(nameText, namespace) };
}

interface Loaded {
  readonly view: ClusterView;
  readonly target: Target;
  /** Describes the source in messages. */
  readonly where: string;
}

function targetIn({ namespace: _, ...named }: Asked, loaded: LoadedView): Loaded {
  const { view, namespace, where, isFromFiles } = loaded;
  const target = { ...named, namespace };
  if (!isFromFiles) return { view, target, where };
  return { view: { ...view, notes: missingNotesOf(view, target) }, target, where };
}

function rendered(explanation: Explanation, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(explanation, format);
  if (format === 'name') return nameOf(explanation);
  const options = { terminal, isWide: format === 'wide' };
  return explanation.kind === 'PodExplanation'
    ? renderPod(explanation, options)
    : renderClaim(explanation, options);
}

/**
 * The result as kubectl accepts it: the node of a pod, or the node where it would go now, or the volume of a claim. Undefined if there is
 * none.
 */
export function nameOf(explanation: Explanation): string {
  if (explanation.kind === 'PodExplanation') {
    const { verdict, pod, placement } = explanation;
    const node = verdict === 'placed' ? pod.nodeName : (pod.nodeName ?? placement?.node);
    return node === undefined ? '' : `node/${printableText(node)}\n`;
  }
  const { state, claim } = explanation;
  if (state !== 'Bound' || claim.volume === undefined) return '';
  return `persistentvolume/${printableText(claim.volume)}\n`;
}

/** True if the pod does not fit or the claim has no volume; scripts can test it by the exit status. */
const unmet = 3;

export function exitCodeOf(explanation: Explanation): number {
  if (explanation.kind === 'ClaimExplanation') return explanation.state === 'Bound' ? 0 : unmet;
  // The scheduler refuses the pod, so the verdict "fits" does not count as success.
  if (explanation.contradiction !== undefined) return unmet;
  switch (explanation.verdict) {
    case 'placed':
    case 'fits':
    case 'finished':
      return 0;
    case 'refused':
    case 'waiting':
    case 'gated':
    case 'unserved':
      return unmet;
    case 'unknown':
      return 1;
  }
}
