// Last used name, stored only in this browser.

const KEY = 'weft.name';

export function rememberedName(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

export function rememberName(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // Storage may be forbidden; then people type the name again.
  }
}
