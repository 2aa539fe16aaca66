/** A line for whoever looks on; standard output is for what programs read. */
export function say(text: string): void {
  process.stderr.write(`stowage: ${text}\n`);
}

export function complain(where: string, error: unknown): void {
  say(`${where}: ${error instanceof Error ? error.message : String(error)}`);
}
