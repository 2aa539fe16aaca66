import { useState } from 'preact/hooks';

const key = 'stowage-theme';
type Theme = 'system' | 'light' | 'dark';
const next: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

/** Applies the theme of the last visit. */
export function applyStoredTheme(): void {
  apply(storedTheme());
}

export function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const change = () => {
    const chosen = next[theme];
    localStorage.setItem(key, chosen);
    apply(chosen);
    setTheme(chosen);
  };
  return (
    <button type="button" class="no-print" onClick={change}>
      Theme: {theme}
    </button>
  );
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event('themechange'));
}
