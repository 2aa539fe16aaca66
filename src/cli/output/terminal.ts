/** What can be shown to whoever reads the output. */
export interface Terminal {
  /** In columns; undefined where lines may be of any length, as in a file. */
  readonly width: number | undefined;
  readonly hasColour: boolean;
  readonly isInteractive: boolean;
}

/** A file, a pipe, a test. */
export const plainTerminal: Terminal = { width: undefined, hasColour: false, isInteractive: false };

/** The part of a stream of Node that says what is behind it. */
export interface TerminalStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Narrower than this nothing reads well, so that lines are let run over. */
const widthMin = 40;

/** Colour is for terminals, unless NO_COLOR says no (https://no-color.org) or the terminal is dumb. */
export function terminalOf(stream: TerminalStream, env: NodeJS.ProcessEnv): Terminal {
  if (stream.isTTY !== true) return plainTerminal;
  const isPlain = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  const { columns = 80 } = stream;
  return { width: Math.max(columns, widthMin), hasColour: !isPlain, isInteractive: true };
}
