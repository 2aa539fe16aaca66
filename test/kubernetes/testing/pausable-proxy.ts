import { createServer, type Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A proxy between client and server that can be paused: it then holds what the client sends, and delivers it after `release`. */
export class PausableProxy {
  readonly #server: Server;
  readonly #wires = new Set<Wire>();
  #isHeld = false;
  #answeredSinceRelease = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(targetPort: number): Promise<PausableProxy> {
    const server = createServer();
    const proxy = new PausableProxy(server);
    server.on('connection', (client) => proxy.#join(client, targetPort));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** The number of held bytes. */
  get heldBytes(): number {
    return [...this.#wires].reduce((sum, { held }) => sum + Buffer.concat(held).length, 0);
  }

  release(): void {
    this.#isHeld = false;
    this.#answeredSinceRelease = 0;
    for (const { held, target } of this.#wires) {
      for (const chunk of held.splice(0)) target.write(chunk);
    }
  }

  /** Resolves when the server has answered something that was held. */
  async answered(): Promise<void> {
    while (this.#answeredSinceRelease === 0) await sleep(5);
  }

  close(): void {
    for (const { client, target } of this.#wires) {
      client.destroy();
      target.destroy();
    }
    this.#server.close();
  }

  #join(client: Socket, targetPort: number): void {
    const target = new Socket().connect(targetPort, '127.0.0.1');
    const wire: Wire = { client, target, held: [] };
    this.#wires.add(wire);
    client.on('data', (chunk) => {
      if (this.#isHeld) wire.held.push(chunk);
      else target.write(chunk);
    });
    target.on('data', (chunk) => {
      this.#answeredSinceRelease += 1;
      client.write(chunk);
    });
    const end = () => {
      // Held bytes were sent before: they still arrive, like packets in a network.
      if (wire.held.length > 0) return;
      this.#wires.delete(wire);
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) socket.on('error', () => {}).on('close', end);
  }
}

interface Wire {
  readonly client: Socket;
  readonly target: Socket;
  readonly held: Buffer[];
}
