import { spawnSync } from 'node:child_process';

/** For `describe.skipIf`: true if this machine cannot build the image. With `CI=true` that is an error instead. */
export function lacksImageTools(): boolean {
  const missing = ['dpkg-deb', 'tar'].filter((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing.length === 0) return false;
  const text = `the image needs ${missing.join(' and ')}, which Debian and Ubuntu have`;
  if (process.env.CI === 'true') throw new Error(text);
  process.stderr.write(`${text}. Tests of it are SKIPPED.\n`);
  return true;
}
