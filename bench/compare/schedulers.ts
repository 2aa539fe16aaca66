import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { builtProgram } from '../../test/built-program.ts';
import type { ProgramPaths } from '../../test/kubernetes/binaries.ts';
import type { CommandLine } from '../../test/kubernetes/command-lines.ts';
import { ProcessSupervisor } from '../../test/kubernetes/process-supervisor.ts';
import { projectRoot } from '../../test/project-root.ts';

/** The scheduler name of the pods, for both schedulers, so that the objects are identical. */
const schedulerName = 'stowage';
/** More than any scheduler can send. */
const requestsUnlimited = 100_000;

export const theirs = 'kube-scheduler';
export const ours = 'stowage run';

/** A measured scheduler: its command line for a given folder. */
export interface Scheduler {
  readonly name: typeof theirs | typeof ours;
  commandLine(settings: SchedulerSettings): CommandLine;
}

export interface SchedulerSettings {
  readonly programs: ProgramPaths;
  /** The kubeconfig of the admin for both, so that requests are neither queued nor authorized individually. */
  readonly kubeconfig: string;
  readonly folder: string;
}

export const kubeScheduler: Scheduler = {
  name: theirs,
  commandLine({ programs, kubeconfig, folder }) {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, stringify(configuration(kubeconfig)));
    const args = [`--config=${config}`, '--secure-port=0'];
    return { program: programs['kube-scheduler'] ?? theirs, args, env: envOf(folder) };
  },
};

export const stowageRun: Scheduler = {
  name: ours,
  commandLine({ kubeconfig, folder }) {
    const script = builtProgram(pathToFileURL(join(projectRoot, 'src/cli/main.ts')));
    const args = [script, 'run', '--kubeconfig', kubeconfig, '--leader-elect=false'];
    return { program: process.execPath, args, env: envOf(folder) };
  },
};

/** The defaults for all decisions; only the limit of 50 requests a second is removed, as ours has none. */
function configuration(kubeconfig: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: requestsUnlimited, burst: requestsUnlimited },
    leaderElection: { leaderElect: false },
    profiles: [{ schedulerName }],
  };
}

function envOf(folder: string): CommandLine['env'] {
  return { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1' };
}

/** A scheduler in a separate process, which ends with this process. */
export class RunningScheduler implements AsyncDisposable {
  readonly #supervisor: ProcessSupervisor;
  readonly #folder: string;
  readonly #name: string;

  private constructor(supervisor: ProcessSupervisor, folder: string, name: string) {
    this.#supervisor = supervisor;
    this.#folder = folder;
    this.#name = name;
  }

  static async start(
    scheduler: Scheduler,
    settings: Omit<SchedulerSettings, 'folder'>,
  ): Promise<RunningScheduler> {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-compare-'));
    // The supervisor removes the data folder itself.
    const supervisor = new ProcessSupervisor({ data: folder, logs: folder });
    const name = scheduler.name.replace(' ', '-');
    await supervisor.start(name, scheduler.commandLine({ ...settings, folder }));
    return new RunningScheduler(supervisor, folder, name);
  }

  /** Throws with the last output if the process has exited. */
  get pid(): number {
    const pid = this.#supervisor.pidOf(this.#name);
    if (pid === undefined) throw new Error(`${this.#name} has exited:\n${this.lastOutput}`);
    return pid;
  }

  get lastOutput(): string {
    return this.#supervisor.log(this.#name).trimEnd().split('\n').slice(-20).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.stop(this.#name);
    await this.#supervisor.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
