import { CsiAddressError, socketPathOf } from '../../csi/csi-address.ts';
import { usage } from '../errors/cli-error.ts';

export interface KubeletRegistrationFlags {
  readonly endpoint: string;
  /** The directory that the kubelet watches for drivers. */
  readonly kubeletRegistration?: string;
  /** The path of the socket as the kubelet sees it, if this process runs in a container; by default that of `--endpoint`. */
  readonly kubeletEndpoint?: string;
}

/** `servesNode` is whether this process serves the node service, the only one that a kubelet calls. */
export function checkKubeletRegistration(flags: KubeletRegistrationFlags, servesNode: boolean): void {
  const { kubeletRegistration: folder, kubeletEndpoint: endpoint } = flags;
  if (folder === undefined) {
    if (endpoint !== undefined) throw usage('--kubelet-endpoint: needs --kubelet-registration');
    return;
  }
  if (!servesNode) throw usage('--kubelet-registration: needs the node service; add node to --services');
  if (!folder.startsWith('/'))
    throw usage(
      `--kubelet-registration: invalid value ${JSON.stringify(folder)}: it must be an absolute path`,
    );
  if (endpoint === undefined) return;
  try {
    socketPathOf(endpoint, '--kubelet-endpoint');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}
