import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { createSecureContext } from 'node:tls';
import { parse } from 'yaml';

export interface ServerAddress {
  readonly url: string;
  readonly token: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Without a limit, a watch that does not end would block the recording. */
const answerMaxMs = 15_000;

// Without certificates, because the identity of the server is not tested here. For all clients: each scenario has one, and Node's own
// certificates would cost more than the scenario.
const secureContext = createSecureContext({ ca: [] });

/** Sends requests unchanged: it does not normalize paths and adds no Accept header. */
export class HttpClient {
  readonly #server: ServerAddress;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false, secureContext });

  constructor(server: ServerAddress) {
    this.#server = server;
  }

  async call({ method, path, headers, body }: Request): Promise<Reply> {
    const { hostname, port } = new URL(this.#server.url);
    const all = {
      authorization: `Bearer ${this.#server.token}`,
      'user-agent': 'fidelity',
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      ...headers,
    };
    return await new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, method, headers: all, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      sent.on('error', reject);
      sent.setTimeout(answerMaxMs, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Uses the first cluster and the first user. */
export function addressOf(kubeconfig: string): ServerAddress {
  const { clusters, users } = parse(kubeconfig) as {
    clusters: { cluster: { server: string } }[];
    users: { user: { token: string } }[];
  };
  return { url: clusters[0]!.cluster.server, token: users[0]!.user.token };
}
