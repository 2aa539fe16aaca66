import { spawnSync } from 'node:child_process';

/** For `describe.skipIf`: true if this process cannot mount XFS on loop devices. With `CI=true` that is an error instead. */
export function lacksXfs(): boolean {
  const problem = xfsProblem();
  if (problem === undefined) return false;
  if (process.env.CI === 'true') throw new Error(problem);
  process.stderr.write(`${problem}. Tests that need them are SKIPPED.\n`);
  return true;
}

function xfsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'drives need root, for mounts and loop devices';
  if (spawnSync('mkfs.xfs', ['-V']).status !== 0) return 'drives need the Debian package xfsprogs';
  return undefined;
}
