import type { StoreObserver } from '../apiserver/store/memory-store.ts';
import type { StoreChange } from '../apiserver/store/store.ts';
import type { AnswerOverride, ClusterCall, ClusterHooks } from '../cluster/intercepted-cluster.ts';
import { qualifiedPlural } from '../kube/resource.ts';
import { isRecord } from '../kube/wire.ts';

const written: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/**
 * Compares what the API server answers with what it stores: a write that it has acknowledged stays stored, and a write that names a
 * version replaces that version. It observes the store, and the calls of all processes right in front of the server.
 */
export class ServerAnswers implements StoreObserver, ClusterHooks {
  /** The revision that each revision replaced. */
  readonly #replaced = new Map<number, number | undefined>();
  readonly #acknowledged = new Set<number>();
  readonly #wrong: string[] = [];

  get wrong(): readonly string[] {
    return this.#wrong;
  }

  written({ entry, previous }: StoreChange): void {
    this.#replaced.set(entry.revision, previous?.revision);
  }

  rolledBack({ bucket, entry }: StoreChange): void {
    if (this.#acknowledged.has(entry.revision))
      this.#wrong.push(
        `${bucket}/${entry.key}: version ${entry.revision} was acknowledged and is not stored`,
      );
  }

  readonly answer = (call: ClusterCall): AnswerOverride | undefined => {
    if (!written.has(call.verb) || call.resource.plural === 'events') return undefined;
    return { value: call.send().then((object) => this.#answered(call, object)) };
  };

  #answered({ resource, name, body }: ClusterCall, object: unknown): unknown {
    const revision = Number(versionOf(object));
    this.#acknowledged.add(revision);
    const given = versionOf(body);
    const replaced = this.#replaced.get(revision);
    // A write that changes nothing is answered with the version that it names.
    if (given !== undefined && Number(given) !== replaced && Number(given) !== revision)
      this.#wrong.push(
        `${qualifiedPlural(resource)}/${name}: a write that names version ${given} has replaced version ${replaced}`,
      );
    return object;
  }
}

function versionOf(object: unknown): string | undefined {
  const { metadata } = isRecord(object) ? object : {};
  const version = isRecord(metadata) ? metadata.resourceVersion : undefined;
  return typeof version === 'string' && version !== '' ? version : undefined;
}
