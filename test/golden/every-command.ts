/** How each command is called. A test compares the names with those of the program. */
export interface GoldenCommand {
  /** As in docs/commands.md. */
  readonly name: string;
  /** What follows the name. */
  readonly args?: readonly string[];
  /** It runs until it is stopped. */
  readonly stays?: true;
  /** Another form of a command that is in the list. */
  readonly isVariant?: true;
  /** It needs no cluster. */
  readonly isAlone?: true;
}

export const everyCommand: readonly GoldenCommand[] = [
  { name: 'up', args: ['--port', '70000'], isAlone: true },
  { name: 'run', args: ['--leader-elect=false'], stays: true },
  { name: 'extender', args: ['--insecure', '--listen', '127.0.0.1:0'], stays: true },
  {
    name: 'csi',
    args: ['--endpoint', 'unix:///nowhere/csi.sock', '--services', 'controller'],
    stays: true,
  },
  { name: 'explain' },
  { name: 'explain', args: ['pod', 'db-1'] },
  { name: 'explain', args: ['claim', 'data-db-1'], isVariant: true },
  { name: 'explain', args: ['statefulset', 'db'], isVariant: true },
  { name: 'plan', args: ['--drain', 'node/n1'] },
  { name: 'headroom' },
  { name: 'drain-plan', args: ['n1'] },
  { name: 'move', args: ['n1', '--yes', '--timeout', '1s'] },
  { name: 'reservations' },
  { name: 'capacity' },
  { name: 'capacity', args: ['--drift'], isVariant: true },
  { name: 'drives discover', args: ['/dev/nowhere'], isAlone: true },
  { name: 'drives init', args: ['/dev/nowhere', '--node-name', 'n1', '--yes'] },
  { name: 'drives list' },
  { name: 'drives list', args: ['volumes'], isVariant: true },
  { name: 'drives info' },
  { name: 'drives label', args: ['n1-a', 'rack=r1'] },
  { name: 'drives tier', args: ['n1-a', 'Hot'] },
  { name: 'drives cordon', args: ['n1-a'] },
  { name: 'drives uncordon', args: ['n1-a'] },
  { name: 'drives remove', args: ['n1-a'] },
  { name: 'drives repair', args: ['n1-a'] },
  { name: 'drives move', args: ['n1-a', 'n1-b'] },
  { name: 'drives forget', args: ['n1', '--yes'] },
  { name: 'disks list' },
  { name: 'disks list', args: ['--volumes'], isVariant: true },
  { name: 'disks describe', args: ['n1/ssd'] },
  { name: 'disks evict', args: ['node/n1'] },
  { name: 'disks cordon', args: ['n1/ssd'] },
  { name: 'disks uncordon', args: ['n1/ssd'] },
  { name: 'disks remove', args: ['n1/ssd', '--yes'] },
  { name: 'disks image list' },
  { name: 'disks image create', args: ['ubuntu', '--url', 'https://images.example.com/ubuntu.img'] },
  { name: 'disks image upload', args: ['alpine', '/nowhere/alpine.img'] },
  { name: 'disks image from-volume', args: ['golden', 'db'] },
  { name: 'disks image delete', args: ['ubuntu'] },
  { name: 'doctor' },
  { name: 'bundle', args: ['--output-file', 'FOLDER/bundle.tar.gz'] },
  { name: 'simulate', args: ['--from', 'FOLDER/nowhere.yaml'], isAlone: true },
  { name: 'snapshot', args: ['FOLDER/snapshot.json'] },
  { name: 'console', args: ['FOLDER/nowhere.json'], isAlone: true },
  { name: 'upgrade-zonal-pvs' },
  { name: 'kubeconfig', args: ['robot'] },
  { name: 'completion', args: ['tcsh'], isAlone: true },
];
