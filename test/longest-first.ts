import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest on two quiet cores, longest first. A file that waits for programs stands between files that compute.
 * Without this list a clean clone would start them in the order of their sizes: the seeds of the simulation, which are the longest and the
 * shortest file, would be last.
 */
export const longestFiles: readonly string[] = [
  'src/simulation/simulation.test.ts',
  'src/simulation/more-seeds.test.ts',
  'test/up/commands.test.ts',
  'test/fidelity/fidelity.test.ts',
  'test/golden/golden.test.ts',
  'test/up/kubectl-lifecycle.test.ts',
  'src/controllers/disk-agent/crash.test.ts',
  'test/up/move.test.ts',
  'src/extender/extender.test.ts',
  'test/simulation/planted-bugs.test.ts',
  'test/up/long-running-commands.test.ts',
  'test/robustness/costly-bodies.test.ts',
  'test/up/demo.test.ts',
  'test/up/cli.test.ts',
  'src/controllers/workloads/workload-crash.test.ts',
  'src/cli/explain/agreement.property.test.ts',
  'test/robustness/watch-storm.test.ts',
  'src/controllers/provisioner/disks/disks-crash.test.ts',
  'src/controllers/scheduler/crashes.test.ts',
  'src/engine/properties/wake-ups.test.ts',
  'src/controllers/lifecycle/crash.test.ts',
  'test/structure/structure.test.ts',
  'test/up/kubectl-write.test.ts',
];

/** Starts the longest files first, so that at the end no core waits for one file; the others as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    return others
      .map((file, place) => ({ file, place: this.#placeOf(file) ?? longestFiles.length + place }))
      .sort((a, b) => a.place - b.place)
      .map(({ file }) => file);
  }

  #placeOf({ moduleId }: TestSpecification): number | undefined {
    const place = longestFiles.indexOf(relative(this.ctx.config.root, moduleId));
    return place < 0 ? undefined : place;
  }
}
