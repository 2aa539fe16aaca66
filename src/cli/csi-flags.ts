import type { CsiSettings } from '../controllers/csi-settings.ts';
import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import { callTimeoutMs } from '../csi/csi-client.ts';
import { usage } from './cli-error.ts';

/** The flags of `up` and `run` for CSI drivers, as given. */
export interface CsiFlags {
  /** One value for each use of the flag. */
  readonly csiAddress?: readonly string[];
  readonly csiTimeout?: string;
}

/** Undefined without drivers. */
export function csiSettingsOf({ csiAddress = [], csiTimeout }: CsiFlags): CsiSettings | undefined {
  if (csiAddress.length === 0) return undefined;
  for (const address of csiAddress) checkAddress(address);
  return {
    addresses: csiAddress,
    timeoutMs: csiTimeout === undefined ? callTimeoutMs : secondsOf(csiTimeout, '--csi-timeout') * 1000,
  };
}

function checkAddress(address: string): void {
  try {
    socketPathOf(address, '--csi-address');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}

function secondsOf(text: string, flag: string): number {
  const seconds = Number(text.replace(/s$/, ''));
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw usage(`${flag}: "${text}" is no time; give seconds, such as 10`);
}
