import { assert } from '../../../runtime/assert.ts';
import { apiVersionOf } from '../../resource.ts';
import type { Kind } from './kind.ts';

/** The kinds that a server serves, found by their names in URLs and in objects. */
export class KindCatalogue {
  readonly all: readonly Kind[];
  readonly #byPath = new Map<string, Kind>();
  readonly #byKind = new Map<string, Kind>();

  constructor(kinds: readonly Kind[]) {
    this.all = kinds;
    for (const kind of kinds) {
      const path = `${apiVersionOf(kind)}/${kind.plural}`;
      assert(!this.#byPath.has(path), `${path} is described twice`);
      this.#byPath.set(path, kind);
      this.#byKind.set(`${apiVersionOf(kind)}/${kind.kind}`, kind);
    }
  }

  /** `apps/v1`, `statefulsets`. */
  byPlural(apiVersion: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${apiVersion}/${plural}`);
  }

  /** `apps/v1`, `StatefulSet`. */
  byKind(apiVersion: string, kind: string): Kind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** The one kind of a name in a group, whatever version is served. */
  inGroup(group: string, kind: string): Kind | undefined {
    return this.all.find((candidate) => candidate.group === group && candidate.kind === kind);
  }
}
