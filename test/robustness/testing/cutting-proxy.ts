import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from '../../../src/runtime/random.ts';
import type { AttackedAccess } from './attacked-server.ts';

/** Forwards bytes, but breaks connections at random bytes, by a reset or an end, or never forwards them. */
export class CuttingProxy {
  readonly #target: Pick<AttackedAccess, 'host' | 'port'>;
  readonly #random: Random;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #open = new Set<Socket>();
  #isFaultFree = false;
  cuts = 0;

  private constructor(target: Pick<AttackedAccess, 'host' | 'port'>, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  static async start(target: Pick<AttackedAccess, 'host' | 'port'>, random: Random): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on no connection breaks. */
  stopFaults(): void {
    this.#isFaultFree = true;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(near: Socket): void {
    const far = connect(this.#target);
    const cut = () => this.#cut(near, far);
    let leftBytes = this.#random.pick([0, 500, 3_000, 20_000, 200_000]);
    const timer = setTimeout(cut, 50 + this.#random.int(1_500));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        clearTimeout(timer);
        this.#open.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => {
        to.write(this.#isFaultFree ? chunk : chunk.subarray(0, leftBytes));
        leftBytes -= chunk.length;
        if (leftBytes < 0) cut();
      });
    }
  }

  #cut(near: Socket, far: Socket): void {
    if (this.#isFaultFree || near.destroyed) return;
    this.cuts += 1;
    if (this.#random.int(2) === 0) near.resetAndDestroy();
    else near.end();
    far.destroy();
  }
}
