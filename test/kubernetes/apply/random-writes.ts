import { randomKinds } from '../../../src/apiserver/apply/testing/more-random-kinds.ts';
import { type RandomKind, randomMetadata } from '../../../src/apiserver/apply/testing/random-kinds.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { seededRandom } from '../../../src/runtime/random.ts';
import { del, get, patch, put, type Scenario, type Step, scenario } from '../../fidelity/scenario.ts';

const managers = ['one', 'two', 'kubectl'];

/** Random writes to one object by three independent managers. Deterministic for a seed. */
export function randomWrites(seed: number, stepCount: number): Scenario {
  const random = seededRandom(seed);
  const kind = random.pick(randomKinds);
  const writes = new ObjectWrites(kind, random, seed);
  const steps = Array.from({ length: stepCount }, (_, i) => writes.step(i === 0));
  return scenario(`apply ${seed}`, steps, get(writes.path));
}

class ObjectWrites {
  readonly path: string;
  readonly #kind: RandomKind;
  readonly #random: Random;
  readonly #name: string;

  constructor(kind: RandomKind, random: Random, seed: number) {
    const base = kind.apiVersion.includes('/') ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
    this.#kind = kind;
    this.#random = random;
    this.#name = `applied-${seed}`;
    const scope = kind.isClusterWide === true ? '' : '/namespaces/{{ns}}';
    this.path = `${base}${scope}/${kind.plural}/${this.#name}`;
  }

  step(isFirst: boolean): Step {
    const random = this.#random;
    const choice = isFirst ? 0 : random.next();
    if (choice < 0.56) return this.#apply(isFirst);
    if (choice < 0.6) return this.#rareStep();
    if (choice < 0.72) return patch('merge', this.#at('', ''), this.#partly());
    if (choice < 0.8) return patch('strategic', this.#at('', ''), this.#partly());
    if (choice < 0.87) return put(this.#at('', ''), this.#whole(this.#kind.whole(random)));
    if (this.#kind.status === undefined) return this.#apply(false);
    return this.#writeStatus(choice);
  }

  /** Rare events: the object is deleted, its owners are cleared, a map is removed, or a body is invalid. */
  #rareStep(): Step {
    const random = this.#random;
    const field = random.pick(['labels', 'annotations', 'finalizers', 'ownerReferences']);
    return random.pick([
      () => del(this.path, { gracePeriodSeconds: 0 }),
      () => patch('merge', this.#at('', ''), { metadata: { managedFields: [{}] } }),
      () => patch('json', this.#at('', ''), [{ op: 'remove', path: `/metadata/${field}` }]),
      () => patch('apply', this.#at('', ''), this.#whole({ ...this.#partly(), odd: 1 })),
      () =>
        patch(
          'apply',
          this.#at('', ''),
          this.#whole({ metadata: { name: this.#name, finalizers: ['a', 'a'] } }),
        ),
    ])();
  }

  #apply(isFirst: boolean): Step {
    const random = this.#random;
    const draw = isFirst || random.next() < 0.4 ? this.#kind.whole : this.#kind.part;
    const force = random.pick(['', '', '&force=true', '&force=true', '&force=false', '&dryRun=All']);
    return patch('apply', this.#at('', isFirst ? '' : force), this.#whole(draw(random)));
  }

  #writeStatus(choice: number): Step {
    const status = this.#kind.status?.(this.#random);
    const body = this.#whole({ ...(this.#kind.part(this.#random) as object), status });
    if (choice < 0.96)
      return patch('apply', this.#at('/status', this.#random.pick(['', '&force=true'])), body);
    return patch('merge', this.#at('/status', ''), { status });
  }

  #partly(): object {
    const {
      apiVersion: _,
      kind: __,
      ...body
    } = this.#whole(this.#kind.part(this.#random)) as Record<string, unknown>;
    return body;
  }

  #whole(body: unknown): object {
    const { apiVersion, kind } = this.#kind;
    const metadata = { ...(randomMetadata(this.#random) as object), name: this.#name };
    return { apiVersion, kind, metadata, ...(body as object) };
  }

  #at(part: string, query: string): string {
    return `${this.path}${part}?fieldManager=${this.#random.pick(managers)}${query}`;
  }
}
