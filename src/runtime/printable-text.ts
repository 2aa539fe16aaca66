/**
 * Control characters, and the marks that change the direction of text: a terminal obeys them. Text of others, such as a server's message,
 * could otherwise move the cursor, hide a line or show a name backwards.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text for one line of a terminal: every such character becomes a space. */
export function printableText(text: string): string {
  return text.replace(unprintable, ' ');
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printableText).join('\n');
}

/** JSON, or YAML in double quotes, that says the same without such characters: they are written as escapes. */
export function escapedJson(json: string): string {
  return json.replace(unprintable, (found) =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** User and password of a URL may be anywhere in a message that names the URL. */
export function withoutPasswords(text: string): string {
  return text.replace(/(?<=[a-z0-9+.-]:\/\/)[^\s/?#"'<>]*@/gi, '***@');
}
