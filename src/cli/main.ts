#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const help = `stowage decides where Kubernetes pods and their volumes go, together.

Usage:
  stowage --version   print the version
  stowage --help      print this text

The engine is a library today: import { ClusterIndex, plan } from 'stowage/engine'.
`;

/** Exit status 2 is for calls we don't understand, as in most Unix tools. */
const usageError = 2;

function main(args: readonly string[]): number {
  const [command] = args;
  if (command === '--version' || command === '-v') {
    process.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  if (command === undefined || command === '--help' || command === '-h') {
    process.stdout.write(help);
    return 0;
  }
  process.stderr.write(`stowage: unknown command "${command}"; see stowage --help\n`);
  return usageError;
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

process.exitCode = main(process.argv.slice(2));
