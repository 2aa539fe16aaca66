/** A selector that cannot be read; the sentence is Kubernetes'. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorError';
  }
}
