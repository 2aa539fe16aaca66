/** The capabilities of the output device. */
export interface Terminal {
  /** Columns; undefined if lines may have any length, as in a file. */
  readonly width: number | undefined;
  readonly hasColour: boolean;
  readonly isInteractive: boolean;
}

/** For files, pipes and tests. */
export const plainTerminal: Terminal = { width: undefined, hasColour: false, isInteractive: false };

/** The part of a Node stream that describes the terminal. */
export interface TerminalStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** On a narrower terminal, lines overflow. */
const widthMin = 40;

/** Colour is for terminals, unless NO_COLOR says no (https://no-color.org) or the terminal is dumb. */
export function terminalOf(stream: TerminalStream, env: NodeJS.ProcessEnv): Terminal {
  if (stream.isTTY !== true) return plainTerminal;
  const isPlain = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  const { columns = 80 } = stream;
  return { width: Math.max(columns, widthMin), hasColour: !isPlain, isInteractive: true };
}
