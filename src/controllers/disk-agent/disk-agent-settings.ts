/** The nodes whose files this process keeps, and how others reach it. */
export interface DiskAgentSettings {
  /** Settings by the name of the StorageNode. */
  readonly nodes: ReadonlyMap<string, AgentNodeSettings>;
  /** Where the agent's server listens; undefined: on every address of the machine. */
  readonly listenHost: string | undefined;
  /** 0 picks a free one. Only the first node gets a port that is given. */
  readonly port: number;
  /** The host in the URL for clients; by default the address of the Node, or else `listenHost`. */
  readonly advertisedHost?: string | undefined;
}

export interface AgentNodeSettings {
  /** A StorageNode with one disk there is created if it is missing. */
  readonly diskPath?: string | undefined;
}
