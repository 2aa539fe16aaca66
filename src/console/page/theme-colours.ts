/**
 * Colours of the page for a canvas. A variable may have one value for light and one for dark, and only a property of an element says which of them
 * is used; so each is set on an element and read again.
 */
export function themeColours<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const colours = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  // Safe: there is one entry for each name.
  return Object.fromEntries(colours) as Record<Name, string>;
}

/** How large the text of the page is, compared with the size that drawings are laid out for. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 15;
}
