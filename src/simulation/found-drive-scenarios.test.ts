import { testFound } from './testing/found-scenario.ts';

testFound([
  {
    name: 'of two processes with the driver of local drives, one leads everything that calls the driver',
    subject: 'drives',
    seed: '1',
    replicated: ['drives'],
    latencyMaxMs: 40,
    actions: [],
  },
]);
