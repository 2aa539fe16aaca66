/** The prefix of a klog line: severity, date, time, process, and source location. */
const head = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ([\w.-]+:\d+)\] (.*)$/;

/** Values that differ in each run. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/resource[vV]ersion="?\d+"?/g, 'resourceVersion=<version>'],
  [/\b\d+(\.\d+)?(ns|µs|ms|s)\b/g, '<duration>'],
];

/** The error lines, each kind once, without values that differ between runs. */
export function errorsIn(log: string): readonly string[] {
  const errors = log.split('\n').flatMap((line) => {
    const [, severity, place, message = ''] = head.exec(line) ?? [];
    return severity === 'E' || severity === 'F' ? [`${place}] ${masked(message)}`] : [];
  });
  return [...new Set(errors)].sort();
}

function masked(text: string): string {
  return masks.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/** Conflicts with another writer that the controller retries: they occur with any controller on any server. */
const lostRaces: readonly (readonly [string, RegExp])[] = [
  [
    'a write that came second',
    /the object has been modified; please apply your changes to the latest version/,
  ],
  [
    'a deletion that came second',
    /precondition \([^)]*\) does not match the (ResourceVersion|UID) in record/,
  ],
  ['a cache that is behind what was written', /read version: \d+ is not as new as written version: \d+/],
  ['a cache that is behind what was written', /informer cache is out of date/],
  [
    'a namespace that is going',
    /unable to create new content in namespace \S+ because it is being terminated/,
  ],
  // Except for objects that every cluster has: if those are missing, the server has lost them.
  ['an object that is gone', /\b[\w.]+ \\?"(?!kube-|extension-|system:|cluster-)[\w.-]+\\?" not found/],
  ['an object that is gone', /Error getting updated StatefulSet from lister/],
  ['an object that is going', /has just been deleted at|pvc \S+ is being deleted/],
  ['an object that is there already', /\\?"[\w.-]+\\?" already exists/],
];

/** Names of particular objects. */
const names: readonly (readonly [RegExp, string])[] = [
  // A structure as Go prints it.
  [/&[\w.]+\{.*\}/g, '<object>'],
  [/\\"[^"]*\\"/g, '<name>'],
  [
    /\b(PVC|PV|key|pod|node|job|cronjob|[a-z]*[sS]et|deployment|namespace|object|claim|volume)="[^"]*"/g,
    '$1=<name>',
  ],
  [/\b[a-z0-9-]+\/[a-z0-9.-]+(?=[\s"),:]|$)/g, '<key>'],
  [/\b\d+\b/g, '<number>'],
];

/** Kinds of errors, without the names of objects; all conflicts of one kind count as one. */
export function errorKindsIn(log: string): readonly string[] {
  return [...new Set(errorsIn(log).map(kindOf))].sort();
}

/** Whether it is such a conflict. */
export function isLostRace(error: string): boolean {
  return raceOf(error) !== undefined;
}

function raceOf(error: string): string | undefined {
  return lostRaces.find(([, pattern]) => pattern.test(error))?.[0];
}

function kindOf(error: string): string {
  const race = raceOf(error);
  if (race !== undefined) return race;
  return names.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), error);
}
