/** The cells of a table that kubectl printed, header first. Ages are masked. */
export function tableOf(text: string): string[][] {
  const lines = text.trimEnd().split('\n');
  const [header = ''] = lines;
  const starts = [...header.matchAll(/(^|\s{2,})\S/g)].map(({ index, 0: match }) => index + match.length - 1);
  const ageColumns = new Set(['AGE', 'LAST SEEN']);
  const cellsOf = (line: string) =>
    starts.map((start, column) => line.slice(start, starts[column + 1]).trim());
  const titles = cellsOf(header);
  const rows = lines
    .slice(1)
    .map((line) =>
      cellsOf(line).map((cell, column) =>
        ageColumns.has(titles[column] ?? '') ? cell.replace(/^(\d+[smhd])+$/, '#') : cell,
      ),
    );
  return [titles, ...rows];
}

/** Masks times and ages, and removes spaces at the ends of lines. */
export function timeless(text: string): string {
  return text
    .replace(/\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000/g, '<time>')
    .replace(/"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z"/g, '<time>')
    .replace(/(?<= {2})\d+s$/gm, '<age>')
    .replace(/(?<=uid: |"uid": ")[0-9a-f-]{36}/g, '<uid>')
    .replace(/ +$/gm, '');
}
