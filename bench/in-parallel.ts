/** The number of parallel requests to a cluster over the network. */
const workerCount = 32;

export async function inParallel(times: number, make: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < times) await make(next++);
  };
  await Promise.all(Array.from({ length: workerCount }, worker));
}
