import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that systems use for outgoing connections, so that a free port is not taken by accident a moment later. */
const firstPort = 20_000;
const lastPort = 32_000;
const triesMax = 100;

/** A free port of the loopback interface. Another process may still take it first. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port among ${triesMax} from ${firstPort} to ${lastPort}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
