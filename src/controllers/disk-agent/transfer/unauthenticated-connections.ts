import type { Socket } from 'node:net';

export interface UnauthenticatedLimits {
  readonly perAddressMax: number;
  readonly totalMax: number;
}

/** A peer authenticates within its first request, so only few of its connections have not done so. */
export const unauthenticatedLimits: UnauthenticatedLimits = { perAddressMax: 16, totalMax: 64 };

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/**
 * Connections that have not sent a valid token yet. Idle ones must not keep peers out, so a new connection is never refused: beyond a limit it closes the
 * oldest one of its own address, or else of the address that has the most.
 */
export class UnauthenticatedConnections {
  readonly #limits: UnauthenticatedLimits;
  /** Connections by address and then by port, the oldest first. */
  readonly #byAddress = new Map<string, Map<number, Pick<Socket, 'destroy'>>>();
  #total = 0;

  constructor(limits: UnauthenticatedLimits = unauthenticatedLimits) {
    this.#limits = limits;
  }

  add(socket: Socket): void {
    const { remoteAddress = '', remotePort = 0 } = socket;
    const connections = this.#byAddress.get(remoteAddress) ?? new Map();
    this.#byAddress.set(remoteAddress, connections.set(remotePort, socket));
    this.#total += 1;
    const peer = { remoteAddress, remotePort };
    socket.once('close', () => this.delete(peer));
    if (connections.size > this.#limits.perAddressMax) this.#closeOldest(remoteAddress);
    else if (this.#total > this.#limits.totalMax) this.#closeOldest(this.#mostFrequentAddress());
  }

  /** The peer has sent a valid token, or has disconnected. */
  delete({ remoteAddress = '', remotePort = 0 }: Peer): void {
    const connections = this.#byAddress.get(remoteAddress);
    if (connections?.delete(remotePort) !== true) return;
    this.#total -= 1;
    if (connections.size === 0) this.#byAddress.delete(remoteAddress);
  }

  #closeOldest(remoteAddress: string): void {
    const [oldest] = this.#byAddress.get(remoteAddress) ?? [];
    if (oldest === undefined) return;
    const [remotePort, socket] = oldest;
    this.delete({ remoteAddress, remotePort });
    socket.destroy();
  }

  #mostFrequentAddress(): string {
    let [most, count] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > count) [most, count] = [address, size];
    return most;
  }
}
