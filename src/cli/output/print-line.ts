import { printableText } from '../../runtime/printable-text.ts';

/** Prints one line. Names and messages of servers and files can't control the terminal. */
export function printLine(text: string): void {
  process.stdout.write(`${printableText(text)}\n`);
}
