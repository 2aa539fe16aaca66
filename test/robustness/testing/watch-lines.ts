import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { AttackedAccess } from './attacked-server.ts';

/** One line of a watch, independent of its format. */
export interface WatchLine {
  readonly type: string;
  /** `namespace/name`; empty for bookmarks and errors. */
  readonly key: string;
  readonly version: number;
  readonly isInitialEnd: boolean;
  /** The code of an error. */
  readonly code?: number;
}

interface WireMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface WireEvent {
  readonly type: string;
  readonly object: {
    readonly metadata?: WireMeta;
    readonly rows?: readonly { readonly object: { readonly metadata: WireMeta } }[];
    readonly code?: number;
  };
}

export class StreamBroke extends Error {}

export interface WatchCall {
  readonly access: AttackedAccess;
  readonly path: string;
  readonly accept: string;
  /** Closes the connection. */
  readonly signal: AbortSignal;
}

/**
 * Yields the lines of a watch over HTTPS, and reads no faster than the caller consumes them. Returns when the server ends the stream
 * properly, and throws `StreamBroke` otherwise. Leaving the loop closes the connection.
 */
export async function* watchLines({ access, path, accept, signal }: WatchCall): AsyncGenerator<WatchLine> {
  const response = await open({ access, path, accept, signal }).catch(rethrowAsStreamBroke);
  let rest = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield lineOf(JSON.parse(line) as WireEvent);
    }
  } catch (error) {
    rethrowAsStreamBroke(error);
  } finally {
    response.destroy();
  }
}

/** A closing server resets open connections, and on a busy machine also connections that are being opened. */
export function rethrowAsStreamBroke(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ECONNRESET' && code !== 'ABORT_ERR') throw error;
  throw new StreamBroke('the connection was reset', { cause: error });
}

function open({ access, path, accept, signal }: WatchCall): Promise<IncomingMessage> {
  const { host, port, secureContext, token } = access;
  const headers = { authorization: `Bearer ${token}`, accept };
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname: host, port, path, headers, agent: new Agent({ secureContext }), signal },
      (response) => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`${path} was answered with ${response.statusCode}`));
      },
    );
    sent.on('error', reject).end();
  });
}

export function lineOf({ type, object }: WireEvent): WatchLine {
  const { metadata, rows, code } = object;
  const isEvent = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
  const meta = rows?.[0]?.object.metadata ?? metadata;
  return {
    type,
    key: isEvent ? `${meta?.namespace}/${meta?.name}` : '',
    version: Number(meta?.resourceVersion),
    isInitialEnd: meta?.annotations?.['k8s.io/initial-events-end'] === 'true',
    ...(code === undefined ? {} : { code }),
  };
}
