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
  {
    name: 'a pod does not start with a deleted claim of the same name that a kubelet still sees',
    subject: 'drives',
    seed: '601036',
    replicated: [],
    latencyMaxMs: 0,
    actions: [
      [383, 'create-pod', { pod: 'p5', claims: 1, hasScratch: false, gib: 2, cpu: 2, isUrgent: false }],
      [2_068, 'delete-pod', { pod: 'p5', isForced: true }],
      [11_608, 'partition', { process: 'kubelets-0', forMs: 5_681 }],
      [14_418, 'delete-claim', { claim: 'p5-d0' }],
      [14_883, 'create-pod', { pod: 'p5', claims: 1, hasScratch: false, gib: 5, cpu: 1, isUrgent: false }],
    ],
  },
]);
