import type { TestProject } from 'vitest/node';
import { type ProgramPaths, providePrograms } from './binaries.ts';
import { kubernetesRelease, programNames } from './programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly kubernetesPrograms: ProgramPaths;
  }
}

/** Runs once before all tests and provides the paths of the programs; it reports the missing ones. */
export async function setup(project: TestProject): Promise<void> {
  const release = kubernetesRelease(process.env);
  if (release !== '1.36') report(`Kubernetes ${release}: tests that need 1.36 are SKIPPED.`);
  const paths = await providePrograms({ env: process.env, report });
  const missing = programNames.filter((name) => paths[name] === undefined);
  if (missing.length > 0) {
    const text = `not available: ${missing.join(', ')}; install Go 1.26 to build them, or set KUBEBUILDER_ASSETS to a folder that has them`;
    if (process.env.CI === 'true') throw new Error(text);
    report(`${text}. Tests that need them are SKIPPED.`);
  }
  project.provide('kubernetesPrograms', paths);
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}
