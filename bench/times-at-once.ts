/** The number of parallel requests to a cluster over the network. */
const makers = 32;

export async function timesAtOnce(times: number, make: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const maker = async (): Promise<void> => {
    while (next < times) await make(next++);
  };
  await Promise.all(Array.from({ length: makers }, maker));
}
