import { Composer, type CST, type Document, type LineCounter, Parser } from 'yaml';

/** The first error in a text. The message has no position. */
export class YamlDocumentError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export type ComposerOptions = NonNullable<ConstructorParameters<typeof Composer>[0]>;

export interface ComposedDocument {
  readonly document: Document.Parsed;
  /** Whether another document follows; its errors are not known yet. */
  readonly hasMore: boolean;
}

/**
 * Composes the documents of a text one at a time, and throws `YamlDocumentError` at the first error. The functions of the
 * YAML package collect all errors instead, and quote the line of each: a line of a million invalid escapes would take
 * that package hours. A text without a document yields an empty one.
 */
export function* composeDocuments(
  text: string,
  lines: LineCounter,
  options: ComposerOptions,
): Generator<ComposedDocument> {
  const composer = new FirstErrorComposer(options);
  let state: 'before-documents' | 'in-document' | 'between-documents' = 'before-documents';
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    if (token.type === 'error') composer.fail(token.offset, token.message);
    const isDocument = token.type === 'document';
    if (state === 'in-document' && (isDocument || token.type === 'directive')) {
      yield* composer.finished(true);
      state = 'between-documents';
    }
    if (isDocument) state = 'in-document';
    composer.add(token);
  }
  yield* composer.finished(false, state === 'before-documents' ? text.length : undefined);
}

class FirstErrorComposer {
  readonly #composer: Composer;
  #first: YamlDocumentError | undefined;

  constructor(options: ComposerOptions) {
    this.#composer = new Composer(options);
    const onError = (at: ErrorPlace, _code: string, message: string, isWarning?: boolean) => {
      if (isWarning !== true) this.fail(offsetOf(at), message);
    };
    // Only this can stop the composer; the property is private in the package's types.
    Object.assign(this.#composer, { onError });
  }

  /** The composer catches errors in nested collections and reports them again, so the first one is kept. */
  fail(offset: number, message: string): never {
    this.#first ??= new YamlDocumentError(message, offset);
    throw this.#first;
  }

  add(token: CST.Token): void {
    // Yields nothing: a document is complete only when the next one starts.
    this.#composer.next(token).next();
  }

  /** Yields the current document, or an empty one if `emptyAt` is the length of a text without documents. */
  *finished(hasMore: boolean, emptyAt?: number): Generator<ComposedDocument> {
    for (const document of this.#composer.end(emptyAt !== undefined, emptyAt)) yield { document, hasMore };
  }
}

type ErrorPlace = number | readonly number[] | { readonly offset: number };

function offsetOf(at: ErrorPlace): number {
  if (typeof at === 'number') return at;
  return 'offset' in at ? at.offset : (at[0] ?? 0);
}
