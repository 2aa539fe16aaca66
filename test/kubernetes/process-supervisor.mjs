import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/**
 * Runs the programs of one test bed, and ends them all when its standard input closes. That happens however the test process ends, even if
 * it is killed. Commands arrive as lines of JSON; answers and events leave in the same format. Plain JavaScript, because Node runs it
 * directly.
 *
 *   node process-supervisor.mjs <data folder>     the folder is removed at the end; logs are elsewhere and stay
 */

const [, , dataFolder] = process.argv;
const children = new Map();

const commands = {
  start({ name, program, args, env, log }) {
    if (children.has(name)) throw new Error(`${name} is running already`);
    const out = openSync(log, 'a');
    // Each program has its own process group, so that its children end with it.
    const child = spawn(program, args, { env, stdio: ['ignore', out, out], detached: true });
    children.set(name, child);
    const onEnd = (result) => {
      if (children.get(name) !== child) return;
      children.delete(name);
      send({ event: 'exit', name, ...result });
    };
    child.once('error', (error) => onEnd({ error: error.message }));
    child.once('exit', (code, signal) => onEnd({ code, signal }));
    return { pid: child.pid };
  },

  signal({ name, signal }) {
    const child = children.get(name);
    if (child === undefined) throw new Error(`${name} is not running`);
    process.kill(-child.pid, signal);
    return {};
  },
};

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const { id, command, ...rest } = JSON.parse(line);
  try {
    send({ id, ...commands[command](rest) });
  } catch (error) {
    send({ id, error: error.message });
  }
});
input.once('close', end);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);
process.stdout.on('error', () => {}); // The parent may be gone; the cleanup must still complete.

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function end() {
  const exits = [...children.values()].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of children.values()) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The program has just exited.
    }
  }
  await Promise.all(exits);
  if (dataFolder !== undefined) await rm(dataFolder, { recursive: true, force: true });
  process.exit(0);
}
