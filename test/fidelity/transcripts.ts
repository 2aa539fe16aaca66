import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pack, unpack } from './packing.ts';
import type { Answer, Scenario, Step } from './scenario.ts';

/** The answers of a real server to the scenarios of one theme. */
export interface Transcript {
  /** The server's version, such as `v1.36.3`. */
  readonly version: string;
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>;
}

export interface Exchange {
  /** Identifies the request, so that an outdated transcript is detected. */
  readonly request: string;
  readonly answer: Answer;
}

export function readTranscript(theme: string): Transcript {
  const file = fileOf(theme);
  if (!existsSync(file)) return { version: 'none', exchanges: new Map() };
  const [head = '{}', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const exchanges = new Map<string, Exchange[]>();
  let name = '';
  for (const line of lines) {
    const entry = JSON.parse(line) as Exchange | { readonly scenario: string };
    if ('scenario' in entry) name = entry.scenario;
    else exchanges.set(name, [...(exchanges.get(name) ?? []), entry]);
  }
  const unpacked = [...exchanges].map(([key, packed]) => [key, unpackAll(packed)] as const);
  return { version: (JSON.parse(head) as { version: string }).version, exchanges: new Map(unpacked) };
}

/** Writes one line per exchange, so that a change of one answer changes one line. */
export function writeTranscript(theme: string, { version, exchanges }: Transcript): void {
  const lines = [JSON.stringify({ version })];
  for (const [name, steps] of exchanges) {
    const answers = pack(steps.map(({ answer }) => answer));
    const packed = steps.map(({ request }, i) => JSON.stringify({ request, answer: answers[i] }));
    lines.push(JSON.stringify({ scenario: name }), ...packed);
  }
  writeFileSync(fileOf(theme), `${lines.join('\n')}\n`);
}

function unpackAll(packed: readonly Exchange[]): readonly Exchange[] {
  const answers = unpack<Answer>(packed.map(({ answer }) => answer));
  return packed.map(({ request }, i) => ({ request, answer: answers[i] as Answer }));
}

export function exchangesOf({ steps }: Scenario, answers: readonly Answer[]): readonly Exchange[] {
  return steps.map((step, i) => ({ request: requestDigest(step), answer: answers[i] as Answer }));
}

/** Identifies a request: its method, and a short hash of its other parts. */
export function requestDigest(step: Step): string {
  const { method, as: _, settle: __, form: ___, ...rest } = step;
  return `${method} ${createHash('sha256').update(JSON.stringify(rest)).digest('base64url').slice(0, 8)}`;
}

function fileOf(theme: string): URL {
  return new URL(`./transcripts/${theme}.ndjson`, import.meta.url);
}
