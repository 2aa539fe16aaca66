#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';

// The reader may close the pipe early, as in `stowage capacity | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const status = await runCommandLine(process.argv.slice(2));
if (status !== undefined) process.exit(status);
