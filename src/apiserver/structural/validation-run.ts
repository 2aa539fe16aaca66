import type { Json } from '../../kube/go/json-value.ts';
import type { Correlation } from './correlation.ts';

/** What one look at a value found. */
export interface Findings {
  hasFailed: boolean;
  /** By what they say: of problems that read the same, the first counts. Stays empty where nobody wants to know. */
  readonly problems: Map<string, SchemaProblem> | undefined;
  /** How many single checks fitted: of alternatives that all fail, the one with the most is told about. */
  matches: number;
}

/** Something wrong with a value, before it becomes an error of Kubernetes. */
export interface SchemaProblem {
  readonly kind: SchemaProblemKind;
  /** Where; empty for the root. */
  readonly name: string;
  readonly message: string;
  /** What is shown of the value; undefined shows an empty text. */
  readonly value?: unknown;
  /** For enums: what it may be instead. */
  readonly supported?: readonly Json[];
  readonly max?: number;
}

type ProblemDetails = Pick<SchemaProblem, 'value' | 'supported' | 'max'>;

/** `unplaced` are those that only tell their path in their sentence. */
export type SchemaProblemKind = 'required' | 'enum' | 'tooLong' | 'tooMany' | 'type' | 'invalid' | 'unplaced';

/** Judges a value that is not null, and adds what it finds to the run. */
export type ValueCheck = (value: Exclude<Json, null>, run: ValidationRun) => void;

/** Judges any value; where `twin` is given, what did not change may stay wrong. */
export type NodeCheck = (value: Json, run: ValidationRun, twin: Correlation | undefined) => void;

/** One walk over a value: where it is, and what it found up to now. Texts are made only where there is something to tell. */
export class ValidationRun {
  readonly #segments: (string | number)[] = [];
  #findings: Findings = { hasFailed: false, problems: new Map(), matches: 0 };

  get findings(): Findings {
    return this.#findings;
  }

  /** Whether it only matters if something is wrong, not what. */
  get isQuiet(): boolean {
    return this.#findings.problems === undefined;
  }

  /** How far below the root. */
  get depth(): number {
    return this.#segments.length;
  }

  enter(segment: string | number): void {
    this.#segments.push(segment);
  }

  /** Keys of maps have a dot before them also at the root. */
  enterKey(key: string): void {
    this.#segments.push(this.#segments.length === 0 ? `.${key}` : key);
  }

  leave(): void {
    this.#segments.pop();
  }

  match(count: number): void {
    this.#findings.matches += count;
  }

  /** A problem of the value that the walk is at; `said` follows its path. */
  addHere(kind: SchemaProblemKind, said: string, details?: ProblemDetails): void {
    this.add(kind, (path) => `${path} in body ${said}`, details);
  }

  /** A problem that has the path of the value somewhere else in its sentence. */
  add(kind: SchemaProblemKind, tell: (path: string) => string, details?: ProblemDetails): void {
    const { problems } = this.#findings;
    this.#findings.hasFailed = true;
    if (problems === undefined) return;
    const name = this.#path();
    const message = tell(name);
    if (!problems.has(message)) problems.set(message, { ...details, kind, name, message });
  }

  /** From here on findings are kept apart, until {@link end} gets what this gave. */
  begin(quietly: boolean): Findings {
    const outer = this.#findings;
    const problems = quietly || this.isQuiet ? undefined : new Map();
    this.#findings = { hasFailed: false, problems, matches: 0 };
    return outer;
  }

  /** What was found since {@link begin}. */
  end(outer: Findings): Findings {
    const inner = this.#findings;
    this.#findings = outer;
    return inner;
  }

  merge({ hasFailed, problems, matches }: Findings): void {
    const findings = this.#findings;
    findings.matches += matches;
    findings.hasFailed ||= hasFailed;
    if (!hasFailed || problems === undefined) return;
    for (const [message, problem] of problems) {
      if (findings.problems?.has(message) === false) findings.problems.set(message, problem);
    }
  }

  #path(): string {
    let text = '';
    for (const segment of this.#segments) {
      if (typeof segment === 'number') text += `[${segment}]`;
      else text += text === '' ? segment : `.${segment}`;
    }
    return text;
  }
}
