// Every failure is a sentence and a remedy.

export interface Problem {
  /** Problem as a sentence. */
  readonly error: string;
  /** Remedy for the person as a sentence. */
  readonly remedy: string;
  /** False if an automatic retry cannot help. */
  readonly temporary: boolean;
}

/** `Problem` as an exception. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.error);
    this.problem = problem;
  }
}

/** The server did not answer. */
export const unreachable: Problem = {
  error: 'The weft server does not answer.',
  remedy: 'Check your network, and that the server is running. weft keeps trying.',
  temporary: true,
};

/** Whether a retry may succeed: 408, 425, 429 and all server errors. */
function isTemporary(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Reads the `{error, remedy}` body of a refusal; `doing` completes "The server refused to …". */
export async function problemOf(response: Response, doing: string): Promise<Problem> {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    // Not JSON; the generic sentence below is used.
  }
  const said = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const temporary = isTemporary(response.status);
  return {
    error: typeof said['error'] === 'string' ? said['error'] : `The server refused to ${doing} (HTTP ${response.status}).`,
    remedy:
      typeof said['remedy'] === 'string'
        ? said['remedy']
        : temporary
          ? 'weft tries again by itself.'
          : 'Reload the page. If the problem persists, ask the server’s operator.',
    temporary,
  };
}

export function problemFrom(thrown: unknown): Problem {
  if (thrown instanceof ProblemError) return thrown.problem;
  // Thrown by fetch without a connection. A frame's error has a separate class.
  if ((thrown as { name?: unknown } | null | undefined)?.name === 'TypeError') return unreachable;
  return {
    error: `Something unexpected happened: ${thrown instanceof Error ? thrown.message : String(thrown)}.`,
    remedy: 'weft tries again by itself; if it stays so, load the page again.',
    temporary: true,
  };
}

/** Returns the feature required by every call that this browser lacks, or null. */
export function missingInBrowser(scope: { readonly RTCPeerConnection?: unknown }): Problem | null {
  if (typeof scope.RTCPeerConnection === 'function') return null;
  return {
    error: 'This browser has no WebRTC, so it can neither show nor send video calls.',
    remedy: 'Use a current Chrome, Edge, Firefox or Safari, or allow WebRTC in the settings or extensions of this one.',
    temporary: false,
  };
}
