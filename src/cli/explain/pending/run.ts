import { missingKindNotes } from '../../../queries/explain/missing-kinds.ts';
import {
  explainPendingPods,
  explainWorkload,
  workloadKinds,
} from '../../../queries/explain/pending/explain-many.ts';
import type {
  PendingExplanation,
  WorkloadKind,
} from '../../../queries/explain/pending/pending-explanation.ts';
import type { ExplainPendingOptions } from '../../../queries/explain/pending/remedy-trials.ts';
import { realClock } from '../../../runtime/clock.ts';
import { usage } from '../../errors/cli-error.ts';
import type { OutputFormat } from '../../output/output-format.ts';
import type { LoadedView, SourceFlags } from '../../source/load-cluster-view.ts';
import { requireNamespace } from '../../source/require-namespace.ts';
import { answerOrWatch, type WatchFlags } from '../../watch/answer-or-watch.ts';
import { namespacedName } from '../namespaced-name.ts';
import { exitCodeOfPending, renderedPending } from './render.ts';

/** All pending pods, or a workload with its pods. The namespace is undefined if the user gave none. */
export type AskedForMany =
  | { readonly kind: 'pods'; readonly namespace: string | undefined }
  | { readonly kind: WorkloadKind; readonly namespace: string | undefined; readonly name: string };

const podKinds: ReadonlySet<string> = new Set(['pod', 'pods', 'po']);

/** Undefined if the arguments name a single pod or claim. */
export function askedForMany(
  kind: string | undefined,
  name: string | undefined,
  namespace: string | undefined,
): AskedForMany | undefined {
  if (kind === undefined || (name === undefined && podKinds.has(kind.toLowerCase())))
    return { kind: 'pods', namespace };
  const slash = name === undefined ? kind.indexOf('/') : -1;
  const kindText = slash < 0 ? kind : kind.slice(0, slash);
  const nameText = slash < 0 ? name : kind.slice(slash + 1);
  const lower = kindText.toLowerCase();
  const workload = Object.hasOwn(workloadKinds, lower) ? workloadKinds[lower] : undefined;
  if (workload === undefined) return undefined;
  if (nameText === undefined)
    throw usage(`"${kind}" is a kind, and the name is missing; write ${kind} NAME or ${kind}/NAME`);
  return { kind: workload, ...namespacedName(nameText, namespace) };
}

/** `stowage explain` for many pods: prints the explanation and sets the exit status. */
export async function explainMany(
  asked: AskedForMany,
  flags: SourceFlags & WatchFlags,
  { format, ...options }: Omit<ExplainPendingOptions, 'onProgress'> & { readonly format: OutputFormat },
): Promise<void> {
  const name = asked.kind === 'pods' ? undefined : asked.name;
  await answerOrWatch(flags, { namespace: asked.namespace, name }, (loaded, terminal, onProgress) => {
    const nowMs = realClock.nowMs();
    const explanation = answerMany(loaded, asked, { ...options, nowMs, onProgress });
    return {
      text: renderedPending(explanation, format, terminal),
      exitCode: exitCodeOfPending(explanation),
    };
  });
}

/** Throws if the namespace or the workload does not exist. */
export function answerMany(
  { view: read, namespace, where, isFromFiles }: LoadedView,
  asked: AskedForMany,
  options: ExplainPendingOptions,
): PendingExplanation {
  if (asked.namespace !== undefined) requireNamespace(read, asked.namespace, where);
  const pods = [...read.snapshot.values('Pod')].filter(({ spec }) => !spec?.nodeName);
  const view = isFromFiles
    ? { ...read, notes: [...read.notes, ...missingKindNotes(read.snapshot, pods)] }
    : read;
  return asked.kind === 'pods'
    ? explainPendingPods(view, asked.namespace, { ...options, where })
    : explainWorkload(view, { ...asked, namespace }, { ...options, where });
}
