export type Route =
  | { readonly kind: 'start' }
  | { readonly kind: 'room'; readonly room: string; readonly name: string | null }
  | { readonly kind: 'demo' }
  | { readonly kind: 'unknown'; readonly path: string };

export function routeOf(path: string, query: string): Route {
  if (path === '/' || path === '/index.html') return { kind: 'start' };
  if (path === '/demo' || path === '/demo/') return { kind: 'demo' };
  const room = /^\/r\/([^/]+)\/?$/u.exec(path)?.[1];
  if (room !== undefined) {
    const name = new URLSearchParams(query).get('name')?.trim();
    return { kind: 'room', room: decode(room), name: name === undefined || name === '' ? null : name };
  }
  return { kind: 'unknown', path };
}

export function roomPath(room: string): string {
  return `/r/${encodeURIComponent(room)}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Converts typed text to a room name that is readable in an address. */
export function roomFrom(typed: string): string {
  return typed
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/gu, '')
    .slice(0, 64);
}
