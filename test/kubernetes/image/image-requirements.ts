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

/** The program that runs those of another processor, from the Debian package qemu-user-static. */
export const emulators = { amd64: 'qemu-x86_64-static', arm64: 'qemu-aarch64-static' } as const;

/** For `test.skipIf`: true if this machine cannot run programs of that processor. With `CI=true` that is an error instead. */
export function lacksEmulator(architecture: keyof typeof emulators): boolean {
  const program = emulators[architecture];
  if (spawnSync(program, ['--version']).status === 0) return false;
  const text = `programs of ${architecture} need ${program}, from the Debian package qemu-user-static`;
  if (process.env.CI === 'true') throw new Error(text);
  process.stderr.write(`${text}. Tests of them are SKIPPED.\n`);
  return true;
}
