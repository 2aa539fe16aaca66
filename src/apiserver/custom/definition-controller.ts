import type { CustomResourceDefinition } from '../../kube/api/stored/apiextensions.ts';
import { isReason } from '../../kube/api-error.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import { customResourceDefinitionKind } from '../kinds/apiextensions/custom-resource-definition.ts';
import {
  cleanupFinalizer,
  isConditionTrue,
  withDefinitionCondition,
} from '../kinds/apiextensions/definition-conditions.ts';
import { anyKind, type ServedKind, type StoredObject } from '../kinds/served-kind.ts';
import type { Registry, RegistryEvent, UpdateContext, WatchHandle } from '../registry/registry.ts';
import { customServedKind } from './custom-kind.ts';
import { statusWithAcceptedNames, takenNames } from './definition-status.ts';
import { deleteInstances } from './instance-deletion.ts';

export interface DefinitionControllerOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** Called with unexpected errors and write failures; the controller keeps running. */
  onError(error: unknown, where: string): void;
}

const definitionKind = anyKind(customResourceDefinitionKind);
const retryMs = 1_000;
const write: UpdateContext = {
  manager: 'kube-apiserver',
  user: 'system:apiserver',
  subresource: 'status',
  warn: () => {},
};

/**
 * Serves the kinds of CustomResourceDefinitions. It watches stored, durable definitions, accepts their names and
 * reports that in their status, adds their kinds to the catalog, and deletes the objects of a deleted definition before
 * it removes the finalizer.
 *
 * Every step reads stored state, decides from that alone and writes with the resource version, so it may stop anywhere
 * and run again.
 */
export class DefinitionController {
  readonly #options: DefinitionControllerOptions;
  readonly #definitions = new Map<string, CustomResourceDefinition>();
  /** The `servedIdentity` of each served definition; its kinds are rebuilt when this changes. */
  readonly #served = new Map<string, string>();
  readonly #pending = new Set<string>();
  readonly #cleanUps = new Set<string>();
  readonly #retries = new Set<Timer>();
  readonly #stop = new AbortController();
  #watch: WatchHandle | undefined;
  #work: Promise<void> | undefined;

  private constructor(options: DefinitionControllerOptions) {
    this.#options = options;
  }

  /** Resolves when the definitions stored before are served. */
  static async start(options: DefinitionControllerOptions): Promise<DefinitionController> {
    const controller = new DefinitionController(options);
    // No `failed` callback: objects would be validated and pruned with an outdated schema.
    const listener = { events: (events: readonly RegistryEvent[]) => controller.#observe(events) };
    controller.#watch = await options.registry.watch(definitionKind, {}, listener);
    return controller;
  }

  /** Resolves when all known definitions are accepted and served. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#watch?.close();
    for (const retry of this.#retries) retry.cancel();
    await this.#work;
  }

  #observe(events: readonly RegistryEvent[]): void {
    const changed = new Set<string>();
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const definition = event.snapshot.object as CustomResourceDefinition;
      const name = definition.metadata.name ?? '';
      changed.add(name);
      if (event.type === 'DELETED') {
        this.#definitions.delete(name);
        // Its names are available to others now.
        for (const each of this.#inGroup(definition)) this.#pending.add(each.metadata.name ?? '');
      } else {
        this.#definitions.set(name, definition);
        this.#pending.add(name);
      }
    }
    this.#serve(changed);
    this.#work ??= this.#reconcileAll();
  }

  #inGroup({ metadata, spec }: CustomResourceDefinition): readonly CustomResourceDefinition[] {
    return [...this.#definitions.values()].filter(
      (other) => other.spec.group === spec.group && other.metadata.name !== metadata.name,
    );
  }

  /** Handles only changed definitions: with hundreds of definitions, hundreds of events arrive together. */
  #serve(names: Iterable<string>): void {
    const changes = new Map<string, readonly ServedKind[]>();
    for (const name of names) {
      const definition = this.#definitions.get(name);
      const identity = definition === undefined ? undefined : servedIdentity(definition);
      if (this.#served.get(name) === identity) continue;
      if (definition === undefined || identity === undefined) this.#served.delete(name);
      else this.#served.set(name, identity);
      changes.set(name, definition === undefined || identity === undefined ? [] : this.#kindsOf(definition));
    }
    if (changes.size > 0) this.#options.registry.kinds.replaceDefined(changes);
  }

  #kindsOf(definition: CustomResourceDefinition): readonly ServedKind[] {
    const { name = '', uid } = definition.metadata;
    // Callers may use the kind after its definition was deleted, or replaced by another of the same name.
    const isTerminating = () => {
      const { metadata } = this.#definitions.get(name) ?? {};
      return metadata?.uid !== uid || metadata?.deletionTimestamp !== undefined;
    };
    if (this.#isBuiltIn(definition)) return [];
    try {
      return (definition.spec.versions ?? [])
        .filter(({ served }) => served)
        .map((version) => customServedKind({ definition, version, isTerminating }));
    } catch (error) {
      this.#options.onError(error, `serving ${name}`);
      return [];
    }
  }

  /** A definition cannot replace a built-in kind in any version: the built-in objects are stored under that name. */
  #isBuiltIn({ spec }: CustomResourceDefinition): boolean {
    return this.#options.registry.kinds.isBuiltIn(spec.group, spec.names.plural);
  }

  async #reconcileAll(): Promise<void> {
    // Runs outside of the listener, which the store calls during a publish.
    await Promise.resolve();
    for (const name of this.#pending) {
      this.#pending.delete(name);
      const definition = this.#definitions.get(name);
      if (definition === undefined || this.#stop.signal.aborted) continue;
      await this.#withRetry(name, () => this.#acceptNames(definition));
    }
    // Cleared synchronously, so that later events start a new run.
    this.#work = undefined;
  }

  /**
   * Retries failed steps, including conflicts: no event is guaranteed to follow, because changes of a definition are
   * ignored while its objects are being deleted.
   */
  async #withRetry(name: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!isReason(error, 'Conflict', 'NotFound')) this.#options.onError(error, `the definition ${name}`);
      const retry = this.#options.clock.after(retryMs, () => {
        this.#retries.delete(retry);
        this.#pending.add(name);
        this.#observe([]);
      });
      this.#retries.add(retry);
    }
  }

  async #acceptNames(definition: CustomResourceDefinition): Promise<void> {
    if (definition.metadata.deletionTimestamp !== undefined) {
      this.#startCleanUp(definition);
      return;
    }
    const status = statusWithAcceptedNames(definition, takenNames(this.#inGroup(definition)), this.#now());
    if (jsonText(status) === jsonText(definition.status)) return;
    await this.#update({ ...definition, status });
  }

  /** Runs in the background, since finalizers of the objects may take long. */
  #startCleanUp(definition: CustomResourceDefinition): void {
    const { uid = '', name = '', finalizers = [] } = definition.metadata;
    if (!finalizers.includes(cleanupFinalizer) || this.#cleanUps.has(uid)) return;
    this.#cleanUps.add(uid);
    const cleanUp = this.#withRetry(name, () => this.#cleanUp(definition));
    void cleanUp.finally(() => this.#cleanUps.delete(uid));
  }

  async #cleanUp(definition: CustomResourceDefinition): Promise<void> {
    const begun = await this.#update(terminating(definition, this.#now(), inProgress));
    const storage = (definition.spec.versions ?? []).find((version) => version.storage);
    const hasObjects = isConditionTrue(definition, 'Established') && !this.#isBuiltIn(definition);
    if (storage !== undefined && hasObjects) {
      const kind = customServedKind({ definition, version: storage, isTerminating: () => true });
      await deleteInstances(this.#options.registry, kind, this.#stop.signal);
    }
    if (this.#stop.signal.aborted) return;
    const { metadata } = begun;
    const finalizers = (metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer);
    const done = terminating(begun, this.#now(), completed);
    await this.#update({ ...done, metadata: { ...metadata, finalizers } });
  }

  async #update(definition: CustomResourceDefinition): Promise<CustomResourceDefinition> {
    const key = { name: definition.metadata.name ?? '' };
    const object = structuredClone(definition) as unknown as StoredObject;
    const { snapshot } = await this.#options.registry.update(definitionKind, key, object, write);
    return snapshot.object as CustomResourceDefinition;
  }

  #now(): string {
    return formatTimestamp(this.#options.clock.nowMs());
  }
}

/** Changes with everything that affects the definition's objects; undefined if it is not served. */
function servedIdentity(definition: CustomResourceDefinition): string | undefined {
  const { metadata, status } = definition;
  if (!isConditionTrue(definition, 'Established') && !isConditionTrue(definition, 'NamesAccepted'))
    return undefined;
  return `${metadata.uid} ${metadata.generation} ${JSON.stringify(status.acceptedNames)}`;
}

const inProgress = {
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};
const completed = {
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
};

function terminating(
  definition: CustomResourceDefinition,
  now: string,
  state: typeof inProgress,
): CustomResourceDefinition {
  const { status } = definition;
  const conditions = withDefinitionCondition(status.conditions ?? [], {
    type: 'Terminating',
    ...state,
    lastTransitionTime: now,
  });
  return { ...definition, status: { ...status, conditions } };
}
