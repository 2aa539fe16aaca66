import type { Json } from '../../kube/go/json-value.ts';
import type { Correlation } from './correlation.ts';

/** The result of one check of a value. */
export interface CheckResult {
  hasFailed: boolean;
  /** The first problem of each message, keyed by message. Undefined if only the failure matters. */
  readonly problems: Map<string, SchemaProblem> | undefined;
  /**
   * The number of single checks that matched: if all alternatives fail, the problems of the one with the most matches
   * are reported.
   */
  matches: number;
}

/** A problem of a value, before it becomes a field error of Kubernetes. */
export interface SchemaProblem {
  readonly kind: SchemaProblemKind;
  /** The path; empty for the root. */
  readonly name: string;
  readonly message: string;
  /** The value that the error shows; undefined shows an empty text. */
  readonly value?: unknown;
  /** For enums: the allowed values. */
  readonly supported?: readonly Json[];
  readonly max?: number;
}

type ProblemDetails = Pick<SchemaProblem, 'value' | 'supported' | 'max'>;

/** `unplaced` problems have their path only in their message. */
export type SchemaProblemKind = 'required' | 'enum' | 'tooLong' | 'tooMany' | 'type' | 'invalid' | 'unplaced';

/** Checks a value that is not null, and adds the problems to the run. */
export type ValueCheck = (value: Exclude<Json, null>, run: ValidationRun) => void;

/** Checks any value; if `correlation` is given, unchanged parts may stay invalid. */
export type NodeCheck = (value: Json, run: ValidationRun, correlation: Correlation | undefined) => void;

/** One walk over a value: the current path and the results so far. It creates texts only for problems. */
export class ValidationRun {
  readonly #segments: (string | number)[] = [];
  /** Total length of all messages so far. */
  #characters = 0;
  #result: CheckResult = { hasFailed: false, problems: new Map(), matches: 0 };

  get result(): CheckResult {
    return this.#result;
  }

  /** Whether only the failure matters, not the problems. */
  get isQuiet(): boolean {
    return this.#result.problems === undefined;
  }

  /** The number of levels below the root. */
  get depth(): number {
    return this.#segments.length;
  }

  enter(segment: string | number): void {
    this.#segments.push(segment);
  }

  /** Keys of maps have a dot before them even at the root. */
  enterKey(key: string): void {
    this.#segments.push(this.#segments.length === 0 ? `.${key}` : key);
  }

  leave(): void {
    this.#segments.pop();
  }

  match(count: number): void {
    this.#result.matches += count;
  }

  /** Adds a problem of the current value; `message` follows its path. */
  addHere(kind: SchemaProblemKind, message: string, details?: ProblemDetails): void {
    this.add(kind, (path) => `${path} in body ${message}`, details);
  }

  /** Adds a problem whose message contains the path elsewhere. */
  add(kind: SchemaProblemKind, messageAt: (path: string) => string, details?: ProblemDetails): void {
    const { problems } = this.#result;
    this.#result.hasFailed = true;
    if (problems === undefined) return;
    if (problems.size > 0 && this.#characters > charactersMax) return;
    const name = this.#path();
    const message = messageAt(name);
    this.#characters += message.length;
    if (!problems.has(message)) problems.set(message, { ...details, kind, name, message });
  }

  /** Starts to collect results separately, until {@link end} receives the returned value. */
  begin(isQuiet: boolean): CheckResult {
    const outer = this.#result;
    const problems = isQuiet || this.isQuiet ? undefined : new Map();
    this.#result = { hasFailed: false, problems, matches: 0 };
    return outer;
  }

  /** The results since {@link begin}. */
  end(outer: CheckResult): CheckResult {
    const inner = this.#result;
    this.#result = outer;
    return inner;
  }

  merge({ hasFailed, problems, matches }: CheckResult): void {
    const result = this.#result;
    result.matches += matches;
    result.hasFailed ||= hasFailed;
    if (!hasFailed || problems === undefined) return;
    for (const [message, problem] of problems) {
      if (result.problems?.has(message) === false) result.problems.set(message, problem);
    }
  }

  #path(): string {
    let text = '';
    for (const segment of this.#segments) {
      if (text.length > pathMax) return `${text.slice(0, pathMax)}...`;
      if (typeof segment === 'number') text += `[${segment}]`;
      else text += text === '' ? segment : `.${segment}`;
    }
    return text.length > pathMax ? `${text.slice(0, pathMax)}...` : text;
  }
}

/** Longer paths are cut: every problem repeats its path, and a key of a hostile object can be a million letters long. */
const pathMax = 1024;
/** Further problems of a value that has one are not recorded. */
const charactersMax = 4 * 1024 * 1024;
