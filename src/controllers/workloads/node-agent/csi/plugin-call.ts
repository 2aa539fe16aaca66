import { CsiCallError } from '../../../../csi/csi-errors.ts';
import {
  type CsiMethodName,
  type CsiReply,
  type CsiRequestInit,
  csiMethods,
} from '../../../../csi/csi-methods.ts';
import type { ServedCsiDriver } from '../../../../csi/served-driver.ts';
import type { Clock } from '../../../../runtime/clock.ts';

/** A kubelet's deadline for calls to node plugins. */
const callMaxMs = 120_000;

/** Calls a node plugin; a plugin that hangs ends the call with DeadlineExceeded, and an abort with Canceled. */
export async function callPlugin<Name extends CsiMethodName>(
  plugin: ServedCsiDriver,
  method: Name,
  request: CsiRequestInit<Name>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<CsiReply<Name>> {
  const call = { driver: plugin.name, method, kind: csiMethods[method].kind };
  if (signal.aborted) throw new CsiCallError(call, 'Canceled', 'context canceled', { sent: false });
  const ended = new AbortController();
  const forward = () => ended.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  const expiry = clock.sleep(callMaxMs, ended.signal).then(() => {
    if (signal.aborted) throw new CsiCallError(call, 'Canceled', 'context canceled', { sent: true });
    throw new CsiCallError(call, 'DeadlineExceeded', 'context deadline exceeded', { sent: true });
  });
  expiry.catch(() => {});
  try {
    const options = { signal: ended.signal, timeoutMs: callMaxMs };
    return await Promise.race([plugin.call(method, request, options), expiry]);
  } finally {
    signal.removeEventListener('abort', forward);
    ended.abort();
  }
}
