/**
 * A position in a document, as a chain of steps to the root. Creating one copies no text: with a text for each key, one
 * long key around many others would cost the product of both.
 */
export class FieldPath {
  static readonly root = new FieldPath(undefined, '');
  readonly parent: FieldPath | undefined;
  /** A key, or an index of a list. */
  readonly step: string | number;
  /** The length of {@link text}, at most. */
  readonly length: number;

  private constructor(parent: FieldPath | undefined, step: string | number) {
    this.parent = parent;
    this.step = step;
    this.length = parent === undefined ? 0 : parent.length + String(step).length + 2;
  }

  child(step: string | number): FieldPath {
    return new FieldPath(this, step);
  }

  /** `spec.containers[0].name`; empty for the root. */
  get text(): string {
    let text = '';
    for (const step of this.steps()) {
      if (typeof step === 'number') text += `[${step}]`;
      else text += text === '' ? step : `.${step}`;
    }
    return text;
  }

  /** From the root. */
  steps(): readonly (string | number)[] {
    const steps: (string | number)[] = [];
    for (let at: FieldPath = this; at.parent !== undefined; at = at.parent) steps.push(at.step);
    return steps.reverse();
  }
}

/** Values at paths. A lookup takes time for the steps of the path that were not looked up before. */
export class PathTable<T> {
  readonly #root: PathNode<T> = { children: undefined, value: undefined };
  readonly #found = new Map<FieldPath, PathNode<T> | undefined>();

  /** Keeps the first value of a path. */
  add(path: FieldPath, value: T): void {
    const node = this.#create(path);
    node.value ??= value;
  }

  get(path: FieldPath): T | undefined {
    return this.#find(path)?.value;
  }

  #create(path: FieldPath): PathNode<T> {
    if (path.parent === undefined) return this.#root;
    const known = this.#found.get(path);
    if (known !== undefined) return known;
    const { children } = withChildren(this.#create(path.parent));
    let node = children.get(path.step);
    if (node === undefined) {
      node = { children: undefined, value: undefined };
      children.set(path.step, node);
    }
    this.#found.set(path, node);
    return node;
  }

  #find(path: FieldPath): PathNode<T> | undefined {
    if (path.parent === undefined) return this.#root;
    if (this.#found.has(path)) return this.#found.get(path);
    const node = this.#find(path.parent)?.children?.get(path.step);
    this.#found.set(path, node);
    return node;
  }
}

interface PathNode<T> {
  children: Map<string | number, PathNode<T>> | undefined;
  value: T | undefined;
}

function withChildren<T>(node: PathNode<T>) {
  node.children ??= new Map();
  return node as PathNode<T> & { readonly children: Map<string | number, PathNode<T>> };
}

/** The texts of paths for an error message: as many as fit. */
export class ReportedPaths {
  readonly #texts = new Set<string>();
  readonly #countMax: number;
  #charactersLeft = reportedCharactersMax;

  constructor(countMax = Number.POSITIVE_INFINITY) {
    this.#countMax = countMax;
  }

  get texts(): readonly string[] {
    return [...this.#texts];
  }

  get isFull(): boolean {
    return this.#texts.size >= this.#countMax;
  }

  add(path: FieldPath, prefix = ''): void {
    const length = prefix.length + path.length;
    if (this.isFull || length > this.#charactersLeft) return;
    this.#charactersLeft -= length;
    this.#texts.add(prefix + path.text);
  }
}

/** No message of an ordinary object comes near it. A hostile one must not multiply the size of its body. */
export const reportedCharactersMax = 256 * 1024;
