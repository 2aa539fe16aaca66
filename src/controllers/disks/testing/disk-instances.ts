import type { Cluster } from '../../../cluster/cluster.ts';
import type { ClusterCall, ClusterHooks } from '../../../cluster/intercepted-cluster.ts';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import type { ControllerEnvironment } from '../../testing/controller-environment.ts';
import { disksController } from '../disks-controller.ts';

/** Most scenarios have so many requests, without the lists of the start. Few have many more, so that small numbers are more likely. */
const killedAtMax = 60;
/** How long it takes until another instance is in the place of one that was killed. */
const restartMs = 700;

interface Kill {
  /** The number of the request. */
  readonly at: number;
  /** The request takes place, and its answer is lost; otherwise the request is lost too. */
  readonly isStored: boolean;
}

export interface DiskInstancesOptions {
  readonly environment: ControllerEnvironment;
  /** These hooks see the calls of every instance. */
  readonly guard: ClusterHooks;
  /** Two instances for each that is started, and one of all is killed at a random request. Undefined: none is. */
  readonly kills: Random | undefined;
}

/** The instances of the controller `disks` in a scenario. All of them act: no Lease decides between them. */
export class DiskInstances {
  readonly #options: DiskInstancesOptions;
  readonly #kill: Kill | undefined;
  readonly #running = new Set<DiskInstance>();
  #requests = 0;
  /** How often all instances were stopped. */
  #stops = 0;
  #killed: string | undefined;

  constructor(options: DiskInstancesOptions) {
    this.#options = options;
    const { kills } = options;
    this.#kill = kills && {
      at: 1 + Math.min(kills.int(killedAtMax), kills.int(killedAtMax)),
      isStored: kills.int(2) === 0,
    };
  }

  /** Which request was the last one of the instance that was killed; undefined while none was. */
  get killed(): string | undefined {
    return this.#killed;
  }

  get areRunning(): boolean {
    return this.#running.size > 0;
  }

  /** As many as there are in a real installation: two if one of them is killed. */
  start(...hooks: readonly ClusterHooks[]): void {
    const count = this.#options.kills === undefined ? 1 : 2;
    for (let started = 0; started < count; started += 1) this.startOne(...hooks);
  }

  startOne(...hooks: readonly ClusterHooks[]): DiskInstance {
    const { environment, guard } = this.#options;
    const instance = new DiskInstance(environment, guard, this.#killer(hooks), ...hooks);
    this.#running.add(instance);
    return instance;
  }

  async stop(): Promise<void> {
    this.#stops += 1;
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((instance) => instance.run.close()));
  }

  endWatches(): void {
    for (const { connection } of this.#running) connection.endWatches();
  }

  /** If the request has not been reached: one of them is killed now. */
  killIfNoneWas(): void {
    const [first] = this.#running;
    if (this.#kill !== undefined && this.#killed === undefined) first?.killer.kill('the end');
  }

  #killer(hooks: readonly ClusterHooks[]): Killer {
    const killer = new Killer(
      () => {
        if (this.#killed !== undefined) return undefined;
        this.#requests += 1;
        return this.#requests === this.#kill?.at ? this.#kill : undefined;
      },
      (request) => this.#replace(killer, request, hooks),
    );
    return killer;
  }

  #replace(killer: Killer, request: string, hooks: readonly ClusterHooks[]): void {
    this.#killed = request;
    const instance = [...this.#running].find((each) => each.killer === killer);
    if (instance === undefined) return;
    this.#running.delete(instance);
    // Nothing waits for what a killed process still does: its connection is cut.
    void instance.run.close();
    const stops = this.#stops;
    this.#options.environment.clock.after(restartMs, () => {
      if (this.#stops === stops) this.startOne(...hooks);
    });
  }
}

class DiskInstance {
  readonly connection: InterceptedCluster;
  readonly run: Supervisor;
  readonly killer: Killer;

  constructor(
    environment: ControllerEnvironment,
    guard: ClusterHooks,
    killer: Killer,
    ...hooks: readonly ClusterHooks[]
  ) {
    this.killer = killer;
    const cluster: Cluster = environment.cluster;
    this.connection = new InterceptedCluster(cluster, killer, guard, ...hooks);
    this.run = environment.run([silentWhenKilled(killer)], this.connection);
  }
}

/** The controller, which reports nothing any more once its process was killed. */
function silentWhenKilled(killer: Killer): Controller {
  const controller = disksController();
  return {
    name: controller.name,
    run: (context, signal) => {
      const report: typeof context.report = (error) => {
        if (!killer.isDead) context.report(error);
      };
      return controller.run({ ...context, report }, signal);
    },
  };
}

/** Cuts the connection of one instance at a request: that one, and all later ones, fail. */
class Killer implements ClusterHooks {
  isDead = false;
  readonly #next: () => Kill | undefined;
  readonly #onKill: (request: string) => void;
  /** The request that is to be stored, and whose answer is to be lost. */
  #last: ClusterCall | undefined;

  constructor(next: () => Kill | undefined, onKill: (request: string) => void) {
    this.#next = next;
    this.#onKill = onKill;
  }

  kill(request: string): void {
    this.isDead = true;
    this.#onKill(request);
  }

  readonly before = (call: ClusterCall): void => {
    if (!this.isDead && call.verb !== 'watch' && call.verb !== 'list') {
      const kill = this.#next();
      if (kill?.isStored === true) this.#last = call;
      else if (kill !== undefined) this.kill(`${textOf(call)}, which was lost`);
    }
    if (this.isDead) throw cut();
  };

  readonly after = (call: ClusterCall): void => {
    if (call === this.#last) this.kill(`${textOf(call)}, whose answer was lost`);
    if (this.isDead) throw cut();
  };

  readonly failed = (call: ClusterCall): void => {
    if (call === this.#last) this.kill(`${textOf(call)}, which failed`);
  };

  readonly onWatchEvent = (): 'drop' | undefined => (this.isDead ? 'drop' : undefined);
}

function textOf({ verb, resource, name }: ClusterCall): string {
  return `${verb} ${resource.plural}/${name}`;
}

function cut(): Error {
  return new Error('the instance was killed');
}
