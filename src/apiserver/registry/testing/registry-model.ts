/** An object in the model. The value is a label, so that selectors can use it. */
export interface ModelObject {
  readonly name: string;
  readonly value: string;
  readonly finalizers: readonly string[];
  /** The remaining grace period; undefined if it is not being deleted. */
  readonly grace: number | undefined;
  /** Empty for pods without a node and for other kinds. */
  readonly node: string;
  readonly revision: number;
}

/** The expected result of an operation once the revision that it reveals is durable. */
export interface Prediction {
  readonly result: string;
  readonly reveals: number;
}

export type ModelPlural = 'configmaps' | 'pods';

/** A change by PUT or PATCH. Omitted fields stay. */
export interface ModelChange {
  readonly value?: string;
  readonly finalizers?: readonly string[];
  /** `old`: a version that is not the current one. */
  readonly version?: 'current' | 'old' | undefined;
}

/** The grace period of every pod with a node. */
const graceSeconds = 30;

type State = ReadonlyMap<string, ModelObject>;

/** The slow, obvious registry: every past state in full, and one revision for each write. Tests compare the real registry with it. */
export class RegistryModel {
  /** Increases with each write, including those rolled back later. */
  #issued: number;
  #durable: number;
  #states: { readonly revision: number; readonly state: State }[];

  constructor(revision: number) {
    this.#issued = revision;
    this.#durable = revision;
    this.#states = [{ revision, state: new Map() }];
  }

  get durable(): number {
    return this.#durable;
  }

  get revision(): number {
    return this.#states.at(-1)!.revision;
  }

  makeDurable(revision: number): void {
    this.#durable = revision;
  }

  rollBack(): void {
    this.#states = this.#states.filter(({ revision }) => revision <= this.#durable);
  }

  create(plural: ModelPlural, name: string, value: string, finalizers: readonly string[]): Prediction {
    if (this.#find(plural, name) !== undefined) return this.#refuse('AlreadyExists');
    return this.#succeed(this.#put(plural, { name, value, finalizers, grace: undefined, node: '' }));
  }

  change(plural: ModelPlural, name: string, { value, finalizers, version }: ModelChange): Prediction {
    const old = this.#find(plural, name);
    if (old === undefined) return this.#refuse('NotFound');
    if (version === 'old') return this.#refuse('Conflict');
    const next = { ...old, value: value ?? old.value, finalizers: finalizers ?? old.finalizers };
    const isHeldAnew = next.finalizers.some((finalizer) => !old.finalizers.includes(finalizer));
    if (old.grace !== undefined && isHeldAnew) return this.#refuse('Invalid');
    if (old.grace === 0 && next.finalizers.length === 0) {
      this.#remove(plural, name);
      return this.#succeed(next);
    }
    const isSame = next.value === old.value && String(next.finalizers) === String(old.finalizers);
    return this.#succeed(isSame ? old : this.#put(plural, next));
  }

  delete(plural: ModelPlural, name: string, isForced: boolean): Prediction {
    const old = this.#find(plural, name);
    if (old === undefined) return this.#refuse('NotFound');
    // The node must confirm a pod's end unless the deletion is forced. A grace period only ever gets shorter.
    const requested = plural === 'pods' && old.node !== '' && !isForced ? graceSeconds : 0;
    const isLess = requested < (old.grace ?? Number.POSITIVE_INFINITY);
    const isKept = old.finalizers.length > 0 || requested > 0 || (old.grace !== undefined && !isForced);
    const isMarked = isLess && (plural === 'pods' || isKept);
    const marked = isMarked ? this.#put(plural, { ...old, grace: requested }) : old;
    if (isKept) return this.#succeed(marked);
    this.#remove(plural, name);
    return { result: 'removed', reveals: this.revision };
  }

  bind(name: string, node: string): Prediction {
    const old = this.#find('pods', name);
    if (old === undefined) return this.#refuse('NotFound');
    if (old.grace !== undefined || old.node !== '') return this.#refuse('Conflict');
    this.#put('pods', { ...old, node });
    return { result: 'bound', reveals: this.revision };
  }

  get(plural: ModelPlural, name: string): Prediction {
    const found = this.#find(plural, name);
    return found === undefined
      ? this.#refuse('NotFound')
      : { result: describeModelObject(found), reveals: found.revision };
  }

  list(plural: ModelPlural, value?: string, revision = this.revision): Prediction {
    const items = this.objectsAt(revision, plural, value).map(describeModelObject);
    return { result: `${revision}: ${items.join(', ')}`, reveals: revision };
  }

  /** Sorted by name. */
  objectsAt(revision: number, plural: ModelPlural, value?: string): readonly ModelObject[] {
    const { state } = this.#states.findLast((each) => each.revision <= revision)!;
    return [...state]
      .filter(
        ([key, object]) => key.startsWith(`${plural}/`) && (value === undefined || object.value === value),
      )
      .map(([, object]) => object)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #find(plural: ModelPlural, name: string): ModelObject | undefined {
    return this.#states.at(-1)!.state.get(`${plural}/${name}`);
  }

  #put(plural: ModelPlural, object: Omit<ModelObject, 'revision'>): ModelObject {
    this.#issued += 1;
    const stored = { ...object, revision: this.#issued };
    const state = new Map(this.#states.at(-1)!.state).set(`${plural}/${object.name}`, stored);
    this.#states.push({ revision: this.#issued, state });
    return stored;
  }

  #remove(plural: ModelPlural, name: string): void {
    this.#issued += 1;
    const state = new Map(this.#states.at(-1)!.state);
    state.delete(`${plural}/${name}`);
    this.#states.push({ revision: this.#issued, state });
  }

  #succeed(object: ModelObject): Prediction {
    return { result: describeModelObject(object), reveals: this.revision };
  }

  #refuse(reason: string): Prediction {
    return { result: reason, reveals: this.revision };
  }
}

export function describeModelObject({ name, value, finalizers, grace, node, revision }: ModelObject): string {
  const held = finalizers.length === 0 ? '' : ` held by ${finalizers.join('+')}`;
  return `${name}@${revision} is ${value}${held}${grace === undefined ? '' : ` going in ${grace}`}${node === '' ? '' : ` on ${node}`}`;
}
