import type { DriftRecord } from '../../kube/drift-record.ts';
import type { MeasuredFigure } from './measured-figure.ts';

/**
 * The published figures of one publisher, in one form. It knows only objects with the publisher's labels, so it can neither change nor
 * delete those of others.
 *
 * 1. `synced`, then `listen`.
 * 2. `published` says what the cluster has, and `write` replaces it. A write names the version that it replaces: if that is stale, it fails with
 *    `Conflict`, and the caller tries again after the cache has caught up.
 * 3. `remove` is called only for figures that are certainly not wanted any more.
 */
export interface FigureStore {
  synced(signal: AbortSignal): Promise<boolean>;
  /** `listener` gets the keys of figures that another client has changed or deleted, or that may be there twice. */
  listen(listener: (figureKey: string) => void): () => void;
  published(figureKey: string): PublishedFigure | undefined;
  /** The keys of all published figures. */
  keys(): Iterable<string>;
  write(figureKey: string, figure: NewFigure, signal: AbortSignal): Promise<void>;
  remove(figureKey: string, signal: AbortSignal): Promise<void>;
  /** Says in the object that its figures are not up to date, and why. */
  setProblem(figureKey: string, problem: FigureProblem, signal: AbortSignal): Promise<void>;
}

/** Undefined: up to date. */
export interface FigureProblem {
  /** Of the figure itself. */
  readonly own: string | undefined;
  /** Of any figure of its segment: some forms have one object for all of them. */
  readonly inSegment: string | undefined;
}

export interface NewFigure extends MeasuredFigure {
  readonly disks: FigureDisks;
  readonly drift: DriftRecord | undefined;
}

/** Which disks of its segment a figure is about, as far as that is known. */
export interface FigureDisks {
  /** Equal for classes whose volumes are on the same disks. */
  readonly parameters: string;
  /** Whether there is another class with the same parameters. */
  readonly isShared: boolean;
}

export interface PublishedFigure {
  readonly freeBytes: bigint | undefined;
  readonly largestBytes: bigint | undefined;
  /** Undefined if the object does not say it. */
  readonly measuredAtMs: number | undefined;
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly drift: DriftRecord | undefined;
  /** Labels, owner and other fields are as this publisher writes them, and there is one object. */
  isComplete(disks: FigureDisks): boolean;
  /** Whether it says this amount. */
  hasAmount(figure: MeasuredFigure): boolean;
}
