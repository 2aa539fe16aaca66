import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from '../../../src/runtime/random.ts';
import type { Access } from './attacked-server.ts';

/** Passes bytes on, until it does not: connections break at any byte, by a reset or an end, or are never answered. */
export class CuttingProxy {
  readonly #target: Pick<Access, 'host' | 'port'>;
  readonly #random: Random;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #open = new Set<Socket>();
  #isCalm = false;
  cuts = 0;

  private constructor(target: Pick<Access, 'host' | 'port'>, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  static async start(target: Pick<Access, 'host' | 'port'>, random: Random): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on nothing breaks. */
  calm(): void {
    this.#isCalm = true;
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
        to.write(this.#isCalm ? chunk : chunk.subarray(0, leftBytes));
        leftBytes -= chunk.length;
        if (leftBytes < 0) cut();
      });
    }
  }

  #cut(near: Socket, far: Socket): void {
    if (this.#isCalm || near.destroyed) return;
    this.cuts += 1;
    if (this.#random.int(2) === 0) near.resetAndDestroy();
    else near.end();
    far.destroy();
  }
}
