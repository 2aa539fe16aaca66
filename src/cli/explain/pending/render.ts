import { capitalized, countOf } from '../../../kube/quantities/count-text.ts';
import { namesText } from '../../../queries/explain/names-text.ts';
import type {
  CauseLine,
  PendingExplanation,
  PodsRemedyLine,
} from '../../../queries/explain/pending/pending-explanation.ts';
import { printableText } from '../../../runtime/printable-text.ts';
import { type OutputFormat, structured } from '../../output/output-format.ts';
import { Page, type RenderOptions, renderNotes } from '../../output/page.ts';
import type { Terminal } from '../../output/terminal.ts';

/** Keeps a large cluster on one screen; `-o wide` shows all. */
const causesMax = 8;
const podsMax = 3;

/** Renders the explanation of many pods as text. */
function renderPending(explanation: PendingExplanation, options: RenderOptions): string {
  const page = new Page(options);
  const { summary, causes, omissions, notes } = explanation;
  const paint = isTrouble(explanation) ? page.style.bad : page.style.good;
  page.line(summary.split(' ').map(paint).join(' '), 0, 0);
  renderNotCreated(page, explanation);
  const shown = options.isWide ? causes : causes.slice(0, causesMax);
  for (const cause of shown) renderCause(page, cause, options);
  const hidden = causes.slice(shown.length);
  if (hidden.length > 0) page.line(`and ${hidden.length} more causes (-o wide shows them)`);
  if (causes.length > 1) renderOverall(page, explanation.remedies);
  if (omissions.length > 0) page.heading('LEFT OUT');
  for (const text of omissions) page.line(text, 2);
  renderNotes(page, notes);
  return page.toString();
}

/** The pods with a cause, one a line, for `xargs -L1 stowage explain`. */
function pendingNames({ causes }: PendingExplanation): string {
  return causes.flatMap(({ pods }) => pods.map((pod) => `pod ${printableText(pod)}\n`)).join('');
}

function isTrouble(explanation: PendingExplanation): boolean {
  return (
    explanation.causes.length > 0 ||
    (explanation.kind === 'WorkloadExplanation' && explanation.notCreated.isFailure)
  );
}

function renderNotCreated(page: Page, explanation: PendingExplanation): void {
  if (explanation.kind !== 'WorkloadExplanation' || explanation.notCreated.count === 0) return;
  const { count, why } = explanation.notCreated;
  page.heading(`${countOf(count, 'pod').toUpperCase()} NOT CREATED`);
  page.line(why ?? 'neither a condition nor an event says why; kubectl describe shows more', 2);
}

function renderCause(
  page: Page,
  { text, count, pods, remedies }: CauseLine,
  { isWide }: RenderOptions,
): void {
  page.heading(`${countOf(count, 'pod').toUpperCase()}: ${text}`);
  page.line(namesText(pods, count, isWide ? pods.length : podsMax), 2);
  const [best] = remedies;
  const shown = isWide ? remedies : best === undefined ? [] : [best];
  for (const remedy of shown) page.line(`what helps: ${remedyText(remedy)}`, 2, 4);
  page.line(`more: stowage explain pod ${pods[0]}`, 2);
}

function renderOverall(page: Page, [best]: readonly PodsRemedyLine[]): void {
  if (best === undefined) return;
  page.heading('WHAT HELPS MOST PODS (tried)');
  const isForOne = best.helped === 1 && best.tried > 1;
  const text = isForOne ? 'no change that was tried helps more than one pod' : capitalized(remedyText(best));
  page.line(text, 2, 4);
}

function remedyText({ text, helped, tried }: PodsRemedyLine): string {
  const then =
    tried === 1 ? 'the pod then fits' : `${helped} of ${tried} pods then ${helped === 1 ? 'fits' : 'fit'}`;
  return `${text}; ${then}`;
}

export function renderedPending(
  explanation: PendingExplanation,
  format: OutputFormat,
  terminal: Terminal,
): string {
  if (format === 'json' || format === 'yaml') return structured(explanation, format);
  if (format === 'name') return pendingNames(explanation);
  return renderPending(explanation, { terminal, isWide: format === 'wide' });
}

/** 3 if a pod is pending for a cause or cannot be created; 1 if no cause could be found because nodes could not be read. */
export function exitCodeOfPending(explanation: PendingExplanation): number {
  const { causes } = explanation;
  if (explanation.kind === 'WorkloadExplanation' && explanation.notCreated.isFailure) return 3;
  if (causes.some(({ verdict }) => verdict !== 'unknown')) return 3;
  return causes.length > 0 ? 1 : 0;
}
