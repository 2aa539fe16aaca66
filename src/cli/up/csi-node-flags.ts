import { join } from 'node:path';
import type { CsiNodeSettings } from '../../controllers/workloads/node-agent/csi-records/connect-node-plugins.ts';
import { CsiAddressError, socketPathOf } from '../../csi/csi-address.ts';
import { usage } from '../errors/cli-error.ts';

/** The values of `--csi-node`: `NODE=unix:///PATH` each. */
export interface CsiNodeFlags {
  readonly csiNode?: readonly string[];
}

/** Undefined without node plugins. Nodes get their directories below the data directory. */
export function csiNodeSettingsOf(
  { csiNode = [] }: CsiNodeFlags,
  { dataDirectory, controllers }: { readonly dataDirectory: string; readonly controllers: readonly string[] },
): CsiNodeSettings | undefined {
  if (csiNode.length === 0) return undefined;
  if (!controllers.includes('node-agent'))
    throw usage('--csi-node: needs the controller node-agent; add it to --controllers');
  const plugins = new Map<string, readonly string[]>();
  for (const value of csiNode) {
    const { nodeName, address } = parsed(value);
    plugins.set(nodeName, [...(plugins.get(nodeName) ?? []), address]);
  }
  return { root: join(dataDirectory, 'kubelet'), plugins };
}

function parsed(value: string): { readonly nodeName: string; readonly address: string } {
  const [, nodeName = '', address = ''] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
  // The name becomes part of a path.
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(nodeName) || address === '')
    throw usage(
      `--csi-node: invalid value ${JSON.stringify(value)}; it must be NODE=unix:///path/of/csi.sock`,
    );
  try {
    socketPathOf(address, `--csi-node ${nodeName}`);
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
  return { nodeName, address };
}
