/** The limit for all warnings of one response, since clients limit the size of headers. Warnings beyond it are dropped. */
const warningsMaxBytes = 8 * 1024;

/** Collects warnings for the Warning headers of a response. */
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

/** Control characters would break the header. The rest is UTF-8; Node writes header text as Latin-1, byte by byte. */
function escaped(text: string): string {
  const printable = text.replace(/\p{Cc}+/gu, ' ').replace(/[\\"]/g, (letter) => `\\${letter}`);
  return Buffer.from(printable, 'utf8').toString('latin1');
}
