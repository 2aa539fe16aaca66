import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Answer, Scenario, Step } from './scenario.ts';

/** What a real server answered to the scenarios of one theme. */
export interface Transcript {
  /** Of the server, as `v1.36.3`. */
  readonly version: string;
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>;
}

export interface Exchange {
  /** What was asked, so that a stale record is found out. */
  readonly request: string;
  readonly answer: Answer;
}

export function readTranscript(theme: string): Transcript {
  const file = fileOf(theme);
  if (!existsSync(file)) return { version: 'none', exchanges: new Map() };
  const [head = '{}', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const exchanges = new Map<string, Exchange[]>();
  for (const line of lines) {
    const { in: name, request, answer } = JSON.parse(line) as Exchange & { readonly in: string };
    const known = exchanges.get(name);
    if (known === undefined) exchanges.set(name, [{ request, answer }]);
    else known.push({ request, answer });
  }
  return { version: (JSON.parse(head) as { version: string }).version, exchanges };
}

/** One line for each exchange: a change of one answer is a change of one line. */
export function writeTranscript(theme: string, { version, exchanges }: Transcript): void {
  const lines = [JSON.stringify({ version })];
  for (const [name, steps] of exchanges) {
    for (const step of steps) lines.push(JSON.stringify({ in: name, ...step }));
  }
  writeFileSync(fileOf(theme), `${lines.join('\n')}\n`);
}

export function exchangesOf({ steps }: Scenario, answers: readonly Answer[]): readonly Exchange[] {
  return steps.map((step, i) => ({ request: requestLine(step), answer: answers[i] as Answer }));
}

/** A request in a line: method, path, and a few letters that change with the rest of it. */
export function requestLine(step: Step): string {
  const { method, path, as: _, settle: __, form: ___, ...rest } = step;
  const hash = createHash('sha256').update(JSON.stringify(rest)).digest('base64url').slice(0, 6);
  return `${method} ${path} ${hash}`;
}

function fileOf(theme: string): URL {
  return new URL(`./transcripts/${theme}.ndjson`, import.meta.url);
}
