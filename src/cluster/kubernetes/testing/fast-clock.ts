import { type Clock, realClock, sleepOn } from '../../../runtime/clock.ts';

/** How much faster its time runs than real time. */
const factor = 50;

/** For tests with real sockets, which a virtual clock cannot wait for: a second of back-off takes 20 ms. */
export const fastClock: Clock = {
  nowMs: () => realClock.nowMs(),
  monotonicMs: () => realClock.monotonicMs() * factor,
  sleep: (ms, signal) => sleepOn(fastClock, ms, signal),
  after: (ms, callback) => realClock.after(ms / factor, callback),
};
