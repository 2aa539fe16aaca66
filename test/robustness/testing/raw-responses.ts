import type { Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** Reads until the peer ends the connection. */
export async function everythingFrom(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await until(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Rejects after a timeout: a connection that stays open would otherwise block the test without a message. */
export function until(socket: Socket, event: 'close'): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the connection does not end')), 120_000);
    socket.once(event, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The responses on one connection, split by their Content-Length. */
export function answersOf(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest.startsWith('HTTP/1.1 ')) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const start = headEnd + 4;
    answers.push({ status: Number(head.slice(9, 12)), body: rest.slice(start, start + length) });
    rest = rest.slice(start + length);
  }
  return answers;
}
