import type { GeneratedResponse } from '../../apiserver/server/http/http-exchange.ts';
import { maySee, type Rights, withoutHidden } from '../access/rights.ts';
import type { RowStore } from '../state/row-store.ts';
import { type ConsoleAbout, type RowType, rowTypes, type StateHead } from '../wire/rows.ts';
import { securityHeaders } from './console-responses.ts';
import { positionFor } from './stream-position.ts';

/** Rows in one line: small enough for the browser to read a line between two frames. */
const rowsPerLine = 250;

/**
 * The whole state as lines of JSON: the head, rows by type, and `{"isEnd":true}`, without which it is incomplete. Rows that change while it is
 * sent may be newer than the position in the head; the stream of changes then repeats them.
 */
export function stateResponse(rows: RowStore, rights: Rights, about: ConsoleAbout): GeneratedResponse {
  const headers = { ...securityHeaders, 'Cache-Control': 'no-store', 'Content-Type': 'application/x-ndjson' };
  return {
    status: 200,
    headers,
    pieces: stateLines(rows, rights, { position: positionFor(rights, rows.position), about }),
  };
}

async function* stateLines(rows: RowStore, rights: Rights, head: StateHead): AsyncIterable<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  for (const type of rowTypes) yield* typeLines(rows, rights, type);
  yield Buffer.from('{"isEnd":true}\n');
}

function* typeLines(rows: RowStore, rights: Rights, type: RowType): Iterable<Uint8Array> {
  let texts: string[] = [];
  for (const { row, text } of rows.values(type)) {
    if (!maySee(rights, type, row)) continue;
    const shown = withoutHidden(rights, type, row);
    texts.push(shown === row ? text : JSON.stringify(shown));
    if (texts.length < rowsPerLine) continue;
    yield lineOf(type, texts);
    texts = [];
  }
  if (texts.length > 0) yield lineOf(type, texts);
}

function lineOf(type: RowType, texts: readonly string[]): Uint8Array {
  return Buffer.from(`{"type":"${type}","rows":[${texts.join(',')}]}\n`);
}
