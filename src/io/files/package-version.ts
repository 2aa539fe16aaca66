import { readFileSync } from 'node:fs';
import { packageFile } from './package-files.ts';

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}
