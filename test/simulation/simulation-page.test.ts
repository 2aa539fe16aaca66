import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allParts } from '../../src/simulation/all-parts.ts';
import { callFaults } from '../../src/simulation/faults/connection-faults.ts';
import type { SimulationPart } from '../../src/simulation/part.ts';
import { projectRoot } from '../project-root.ts';

const path = join(projectRoot, 'docs/simulation.md');

// `npx vitest run test/simulation/simulation-page -u` updates the page.
test('the page about the simulation lists every action, fault and invariant', async () => {
  const page = readFileSync(path, 'utf8');
  const generated = withSection(withSection(page, 'actions', actionTable()), 'invariants', invariantList());
  await expect(generated).toMatchFileSnapshot(path);
  for (const fault of callFaults) expect(page).toContain(`\`${fault}\``);
});

function withSection(page: string, name: string, text: string): string {
  const start = `<!-- ${name}: generated -->\n`;
  const at = page.indexOf(start);
  expect(at, `the page has no ${start}`).toBeGreaterThan(0);
  return `${page.slice(0, at)}${start}\n${text}\n${page.slice(page.indexOf('<!-- end -->', at))}`;
}

function actionTable(): string {
  const rows = allParts.map(
    (part) =>
      `| ${part.name} | ${controllersOf(part)} | ${actionsOf(part, false)} | ${actionsOf(part, true)} |\n`,
  );
  return `| part | processes and their controllers | actions | faults |\n|---|---|---|---|\n${rows.join('')}`;
}

function controllersOf({ processes = [] }: SimulationPart): string {
  return processes.map(({ name, controllers }) => `\`${name}\`: ${controllers.join(', ')}`).join('; ');
}

function actionsOf({ actions = [] }: SimulationPart, isFault: boolean): string {
  return actions
    .filter((action) => (action.isFault === true) === isFault)
    .map(({ name }) => `\`${name}\``)
    .join(', ');
}

function invariantList(): string {
  const invariants = [...new Set(allParts.flatMap((part) => part.invariants ?? []))];
  const versions = invariants.filter(({ onVersion }) => onVersion !== undefined);
  const atRest = invariants.filter(({ onVersion }) => onVersion === undefined);
  const lines = (some: typeof invariants) => some.map(({ name }) => `- ${sentence(name)}\n`).join('');
  return `On every stored version:\n\n${lines(versions)}\nAt rest:\n\n${lines(atRest)}`;
}

function sentence(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}.`;
}
