import type {
  NodeGroupLine,
  PlacementLine,
  PodExplanation,
  PoolLine,
  ScoreLine,
} from '../../queries/explain/explanation.ts';
import { namesText } from '../../queries/explain/names-text.ts';
import { candidateText, nodeReasonTexts } from '../../queries/explain/reason-text.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';
import { lessCloseText, Page, type RenderOptions, renderEvents, renderNotes } from '../output/page.ts';

/** Keeps thousands of nodes on one screen; `-o wide` shows all. */
const groupsMax = 12;
const reasonsMax = 6;
const claimsMax = 6;
const namesMax = 2;
const namesMaxWide = 10;

/** Renders the explanation of a pod as text. */
export function renderPod(explanation: PodExplanation, options: RenderOptions): string {
  const page = new Page(options);
  renderPodInto(page, explanation, options);
  renderEvents(page, options.isWide || explanation.verdict !== 'refused' ? explanation.events : []);
  renderNotes(page, explanation.notes);
  return page.toString();
}

/** The part of the explanation that is about one pod. */
export function renderPodInto(page: Page, explanation: PodExplanation, options: RenderOptions): void {
  page.line(verdictPaint(page, explanation)(explanation.summary), 0, 0);
  page.line(profileText(explanation));
  renderPodReasons(page, explanation);
  renderWaits(page, explanation);
  const isPlaced = explanation.verdict === 'placed';
  if (!isPlaced) renderNodes(page, explanation, options);
  renderPlacement(page, explanation.placement, options);
  if (isPlaced) renderNodes(page, explanation, options);
  renderClaims(page, explanation, options);
  renderInlineVolumes(page, explanation);
  renderPools(page, explanation.pools);
  renderRemedies(page, explanation, options);
  renderMessage(page, explanation);
}

/** Colours each word separately, so that a line can be broken anywhere. */
function verdictPaint({ style }: Page, { verdict, contradiction }: PodExplanation): (text: string) => string {
  const isGood = (verdict === 'placed' || verdict === 'fits') && contradiction === undefined;
  const paint = isGood ? style.good : verdict === 'refused' ? style.bad : style.warn;
  return (text) => text.split(' ').map(paint).join(' ');
}

/** Which rules were applied, and why these. */
function profileText({ profile, profileSource, pod }: PodExplanation): string {
  const why: { readonly [S in typeof profileSource]: string } = {
    flag: 'chosen by --profile',
    event: "the scheduler that recorded the pod's events",
    lease: `the scheduler that announces schedulerName ${pod.schedulerName} on its Lease`,
    server: 'the scheduler of stowage up',
    schedulerName: `assumed from schedulerName ${pod.schedulerName}`,
  };
  return `Rules: profile ${profile} (${why[profileSource]}).`;
}

function renderWaits(page: Page, { waitsFor }: PodExplanation): void {
  if (waitsFor.length === 0) return;
  page.heading('WAITS FOR');
  for (const { text, details, claim } of waitsFor) {
    page.line(text, 2);
    for (const detail of details) page.line(detail, 4);
    page.line(`stowage explain claim ${claim} says more`, 4);
  }
}

function renderPodReasons(page: Page, { podReasons }: PodExplanation): void {
  if (podReasons.length === 0) return;
  page.heading('WHY');
  for (const { claim, sentence, remedy, waitsFor } of podReasons) {
    page.line(`${claim === undefined ? '' : `${claim}: `}${sentence}`, 2);
    if (waitsFor !== undefined) page.line(`the claim ${waitsFor}`, 4);
    page.line(`what helps: ${remedy}`, 4);
    if (waitsFor !== undefined) page.line(`stowage explain claim ${claim} says more`, 4);
  }
}

function renderNodes(page: Page, { nodes, verdict }: PodExplanation, { isWide }: RenderOptions): void {
  if (nodes.groups.length === 0) return;
  page.heading(verdict === 'placed' ? 'WHY NOT ELSEWHERE' : 'NODES');
  const shown = isWide ? nodes.groups : nodes.groups.slice(0, groupsMax);
  for (const { nodes: names, count, reasons } of shown) {
    const who = namesText(names, count, isWide ? namesMaxWide : namesMax);
    const why = isWide
      ? reasons.map((reason) => `${nodeReasonTexts([reason])[0]} {${reason.rule}}`)
      : shortened(nodeReasonTexts(reasons));
    page.line(`${who}: ${why.join('; ')}`, 2);
  }
  const hidden = nodes.groups.slice(shown.length);
  if (hidden.length === 0) return;
  const count = hidden.reduce((sum, group) => sum + group.count, 0);
  page.line(`${count} more nodes, for ${hidden.length} other sets of reasons (-o wide shows them)`, 2);
}

function shortened(reasons: readonly string[]): readonly string[] {
  if (reasons.length <= reasonsMax) return reasons;
  return [...reasons.slice(0, reasonsMax), `and ${reasons.length - reasonsMax} more`];
}

function renderPlacement(page: Page, placement: PlacementLine | undefined, { isWide }: RenderOptions): void {
  if (placement === undefined) return;
  if (placement.volumes.length > 0) {
    page.heading('VOLUMES');
    for (const { claim, inlineVolume, volume, pool, policy } of placement.volumes) {
      const subject = inlineVolume === undefined ? claim : `inline volume ${inlineVolume}`;
      const rule = policy === undefined ? '' : ` (policy: ${policy})`;
      page.line(`${subject}: ${volume ?? `a new volume of ${pool}`}${rule}`, 2);
    }
  }
  if (placement.scores.length === 0) return;
  page.heading('SCORES');
  const rules = isWide ? allRules(placement.scores) : distinguishing(placement.scores);
  for (const { node, total, byRule } of placement.scores) {
    const parts = rules.map((rule) => `${rule} ${byRule[rule] ?? 0}`);
    const mark = node === placement.node ? '*' : ' ';
    page.line(`${mark} ${node}: ${total}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`, 0, 4);
  }
}

function allRules([first]: readonly ScoreLine[]): readonly string[] {
  return Object.keys(first?.byRule ?? {});
}

/** The rules whose scores differ between nodes. */
function distinguishing(scores: readonly ScoreLine[]): readonly string[] {
  return allRules(scores).filter((rule) => new Set(scores.map(({ byRule }) => byRule[rule])).size > 1);
}

function renderClaims(page: Page, { claims, verdict }: PodExplanation, { isWide }: RenderOptions): void {
  const open = claims.filter(
    ({ state, closest, elsewhere }) => state !== 'bound' || closest.length > 0 || isShown(verdict, elsewhere),
  );
  if (open.length === 0) return;
  page.heading('CLAIMS');
  const absence = verdict === 'unknown' ? 'could not be read' : 'does not exist';
  const shown = isWide || open.length <= claimsMax + 1 ? open : open.slice(0, claimsMax);
  for (const { claim, requested, storageClass, state, closest, omitted, disks, elsewhere } of shown) {
    const size = requested === undefined ? '' : `${requested}, `;
    const className = storageClass === '' ? 'no class' : `class ${storageClass}`;
    const about = state === 'missing' ? absence : `${size}${className}, ${state}`;
    page.line(`${claim} (${about})${closest.length === 0 ? '' : '; closest:'}`, 2);
    for (const candidate of closest) page.line(candidateText(candidate), 4);
    if (omitted > 0) page.line(lessCloseText(omitted), 4);
    if (disks !== undefined) page.line(`disks: ${disks}`, 4);
    if (isShown(verdict, elsewhere)) page.line(`place: ${elsewhere}`, 4);
  }
  if (shown.length < open.length)
    page.line(`and ${open.length - shown.length} more claims (-o wide shows them)`, 2);
}

/** A pod that runs, or can, needs no other volume. */
function isShown(verdict: PodExplanation['verdict'], elsewhere: string | undefined): boolean {
  return verdict === 'refused' && elsewhere !== undefined;
}

function renderInlineVolumes(page: Page, { inlineVolumes = [], verdict }: PodExplanation): void {
  if (inlineVolumes.length === 0 || verdict !== 'refused') return;
  page.heading('INLINE VOLUMES');
  for (const { volume, driver, size, closest, omitted } of inlineVolumes) {
    page.line(`${volume} (${size}, driver ${driver})${closest.length === 0 ? '' : '; closest:'}`, 2);
    for (const candidate of closest) page.line(candidateText(candidate), 4);
    if (omitted > 0) page.line(lessCloseText(omitted), 4);
  }
}

function renderPools(page: Page, pools: readonly PoolLine[] = []): void {
  if (pools.length === 0) return;
  page.heading('POOLS');
  const text = (amount: string | undefined) => (amount === undefined ? 'unknown' : readableAmount(amount));
  for (const { pool, storageClass, total, used, promised, free, age, publishedBy } of pools) {
    const amounts = `total ${text(total)}, used ${text(used)}, promised ${text(promised)}, free ${text(free)}`;
    const source = [age && `${age} old`, publishedBy && `published by ${publishedBy}`].filter(Boolean);
    page.line(`${pool} (${storageClass}): ${[amounts, ...source].join('; ')}`, 2);
  }
}

function renderRemedies(
  page: Page,
  { verdict, remedies, search, nodes }: PodExplanation,
  { isWide }: RenderOptions,
): void {
  if (verdict !== 'refused') return;
  if (remedies.length > 0) {
    page.heading(
      remedies.length === 1
        ? 'WHAT WOULD HELP (tried)'
        : 'WHAT WOULD HELP (any one of these; each was tried)',
    );
    for (const [at, { text, cost }] of remedies.entries())
      page.line(`${at + 1}. ${text}${isWide ? ` [cost ${cost}]` : ''}`, 2, 3);
  } else if (search !== undefined) {
    page.heading('WHAT WOULD HELP');
    page.line('no change of up to three steps that is known here makes the pod fit; in general:', 2);
    for (const text of generalRemedies(nodes.groups)) page.line(`- ${text}`, 2);
  }
  if (search === undefined) return;
  if (search.nodesTried < search.nodesPromising)
    page.line(
      `tried on the ${search.nodesTried} nodes that miss least, of ${search.nodesPromising.toLocaleString('en-US')}`,
      2,
    );
  if (search.isCutShort) page.line('the search was cut short; there may be smaller changes', 2);
}

/** The general remedies for the nodes with the fewest reasons. */
function generalRemedies([nearest]: readonly NodeGroupLine[]): readonly string[] {
  const texts = new Set((nearest?.reasons ?? []).map(({ remedy }) => remedy));
  return [...texts].slice(0, reasonsMax);
}

function renderMessage(page: Page, { message, reported, contradiction }: PodExplanation): void {
  if (message === undefined) return;
  page.heading("KUBE-SCHEDULER'S MESSAGE");
  page.line(message, 2, 0);
  // A contradiction has quoted it already.
  const isQuoted = contradiction !== undefined;
  const isOther = !isQuoted && reported !== undefined && reported !== '' && !reported.startsWith(message);
  if (isOther) page.line(`the pod's condition says: ${reported}`, 2, 0);
}
