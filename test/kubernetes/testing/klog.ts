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
const lostRaces: readonly RegExp[] = [
  // A write, or a deletion, that came second.
  /the object has been modified; please apply your changes to the latest version/,
  /precondition \([^)]*\) does not match the (ResourceVersion|UID) in record/,
  // A cache that is behind what was written.
  /read version: \d+ is not as new as written version: \d+/,
  /informer cache is out of date/,
  // A namespace that is going.
  /unable to create new content in namespace \S+ because it is being terminated/,
  // An object that is gone; except for objects that every cluster has: if those are missing, the server has lost them.
  /\b[\w.]+ \\?"(?!kube-|extension-|system:|cluster-)[\w.-]+\\?" not found/,
  /Error getting updated StatefulSet from lister/,
  // An object that is going, or there already.
  /has just been deleted at|pvc \S+ is being deleted/,
  /\\?"[\w.-]+\\?" already exists/,
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

/** Kinds of errors, without the names of objects; conflicts aside, which one run may have by chance and another not. */
export function errorKindsIn(log: string): readonly string[] {
  const others = errorsIn(log).filter((error) => !isLostRace(error));
  return [...new Set(others.map(kindOf))].sort();
}

/** Whether it is such a conflict. */
export function isLostRace(error: string): boolean {
  return lostRaces.some((pattern) => pattern.test(error));
}

function kindOf(error: string): string {
  return names.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), error);
}
