/** All warnings of one answer together; what does not fit is left out, as headers have their limits. */
const warningsMaxBytes = 8 * 1024;

/** Gathers what the writer should know, for the Warning headers of the answer. */
export class Warnings {
  readonly #texts = new Set<string>();

  readonly add = (text: string): void => {
    this.#texts.add(text);
  };

  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  headers(): Readonly<Record<string, readonly string[]>> {
    const lines: string[] = [];
    let bytes = 0;
    for (const text of this.#texts) {
      const line = `299 - "${escaped(text)}"`;
      bytes += line.length;
      if (bytes > warningsMaxBytes) break;
      lines.push(line);
    }
    return lines.length === 0 ? {} : { Warning: lines };
  }
}

/** Control characters would break the header apart. The rest is UTF-8, which Node takes byte by byte as Latin-1. */
function escaped(text: string): string {
  const printable = text.replace(/\p{Cc}+/gu, ' ').replace(/[\\"]/g, (letter) => `\\${letter}`);
  return Buffer.from(printable, 'utf8').toString('latin1');
}
