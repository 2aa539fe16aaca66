import type { ClaimExplanation } from '../../queries/explain/explanation.ts';
import { candidateText } from '../../queries/explain/reason-text.ts';
import { expansionText } from '../../queries/pools/expansion-text.ts';
import { lessCloseText, Page, type RenderOptions, renderEvents, renderNotes } from '../output/page.ts';
import { renderPodInto } from './render-pod.ts';

/** Renders the explanation of a claim as text. */
export function renderClaim(explanation: ClaimExplanation, options: RenderOptions): string {
  const page = new Page(options);
  const { summary, state, closest, omitted, pods, podsOmitted, events, notes } = explanation;
  const paint = state === 'Bound' ? page.style.good : page.style.warn;
  page.line(summary.split(' ').map(paint).join(' '), 0, 0);
  renderFacts(page, explanation);
  if (closest.length > 0) {
    page.heading('CLOSEST VOLUMES');
    for (const candidate of closest) page.line(candidateText(candidate), 2);
    if (omitted > 0) page.line(lessCloseText(omitted), 2);
  }
  for (const pod of pods) {
    page.heading(`POD ${pod.pod.namespace}/${pod.pod.name}`);
    renderPodInto(page, pod, options);
  }
  if (podsOmitted > 0) page.line(`and ${podsOmitted} more pods that use it`);
  renderEvents(page, events);
  renderNotes(page, notes);
  return page.toString();
}

function renderFacts(page: Page, explanation: ClaimExplanation): void {
  const { claim, state, expansions = [], disks, elsewhere } = explanation;
  const { requested, storageClass, selectedNode, volume } = claim;
  page.heading('CLAIM');
  page.line(`state: ${state}`, 2);
  page.line(
    `asks for: ${requested ?? 'any size'}, ${storageClass === '' ? 'no class' : `class ${storageClass}`}`,
    2,
  );
  if (volume !== undefined) page.line(`volume: ${volume}`, 2);
  if (selectedNode !== undefined) page.line(`selected node: ${selectedNode}`, 2);
  for (const expansion of expansions) page.line(`expansion: ${expansionText(expansion)}`, 2);
  if (disks !== undefined) page.line(`disks: ${disks}`, 2);
  if (elsewhere !== undefined) page.line(`place: ${elsewhere}`, 2);
}
