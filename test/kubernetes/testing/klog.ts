/** The head of a line of klog: severity, date, time, process, and where in the sources. */
const head = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ([\w.-]+:\d+)\] (.*)$/;

/** What is different each time. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/resource[vV]ersion="?\d+"?/g, 'resourceVersion=<version>'],
  [/\b\d+(\.\d+)?(ns|µs|ms|s)\b/g, '<duration>'],
];

/** The lines at which something failed, each kind once, without what differs from run to run. */
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

/** Who came second in a race with somebody else, and tries again: any controller may, on any server. */
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
  // But for what every cluster has: where that is missing, the server has forgotten it.
  ['an object that is gone', /\b[\w.]+ \\?"(?!kube-|extension-|system:|cluster-)[\w.-]+\\?" not found/],
  ['an object that is gone', /Error getting updated StatefulSet from lister/],
  ['an object that is going', /has just been deleted at|pvc \S+ is being deleted/],
  ['an object that is there already', /\\?"[\w.-]+\\?" already exists/],
];

/** What is about one object or another. */
const names: readonly (readonly [RegExp, string])[] = [
  // As Go prints a structure.
  [/&[\w.]+\{.*\}/g, '<object>'],
  [/\\"[^"]*\\"/g, '<name>'],
  [
    /\b(PVC|PV|key|pod|node|job|cronjob|[a-z]*[sS]et|deployment|namespace|object|claim|volume)="[^"]*"/g,
    '$1=<name>',
  ],
  [/\b[a-z0-9-]+\/[a-z0-9.-]+(?=[\s"),:]|$)/g, '<key>'],
  [/\b\d+\b/g, '<number>'],
];

/** Kinds of errors: without the object that each is about, and one for each way to lose a race. */
export function errorKindsIn(log: string): readonly string[] {
  return [...new Set(errorsIn(log).map(kindOf))].sort();
}

function kindOf(error: string): string {
  const [race] = lostRaces.find(([, pattern]) => pattern.test(error)) ?? [];
  if (race !== undefined) return race;
  return names.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), error);
}
