import { createHash } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { onAbort } from '../../../runtime/abort.ts';
import type { AgentAddress } from '../agent-address.ts';

/** A server that neither takes nor sends anything for this long is disconnected. */
const idleMaxMs = 60_000;

/**
 * A connection to an agent. Its certificate is self-signed, so its hash is compared instead of its issuer. Nothing has been sent yet: a server that
 * is not the agent gets no token.
 */
export function pinnedSocket(
  { url, certificateSHA256 }: AgentAddress,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false });
    const stop = signal.aborted ? socket.destroy.bind(socket) : onAbort(signal, () => socket.destroy());
    socket.setTimeout(idleMaxMs, () =>
      socket.destroy(new Error(`it was silent for ${idleMaxMs / 1000} seconds`)),
    );
    socket.once('close', () => {
      stop();
      reject(new Error('the connection was closed'));
    });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const hash = createHash('sha256').update(socket.getPeerCertificate().raw).digest('hex');
      if (hash === certificateSHA256) return resolve(socket);
      socket.destroy();
      reject(new Error('it has another certificate than its StorageNode reports'));
    });
  });
}
