// Requests to servers that joined the cluster after the page was loaded. The page's policy
// (connect-src) does not include them; that of a document loaded now does.

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** Empty document of the server that the page was loaded from. */
const DOCUMENT = '/frame';

/** Time limit for loading it, since the server may be gone. */
const LOAD_MS = 2_000;

/** Frames with requests of this page. They remain, because removing one would end its requests. */
let latest: Fetch = (input, init) => globalThis.fetch(input, init);

/** Returns the `fetch` of a new frame; that of the last one, or our own, if the server that the page was loaded from does not answer. */
export async function freshFetch(): Promise<Fetch> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = DOCUMENT;
  const loaded = new Promise<void>((resolve) => {
    frame.addEventListener('load', () => resolve());
    setTimeout(resolve, LOAD_MS);
  });
  document.body.append(frame);
  await loaded;
  // An error page of the browser has another origin.
  const { contentDocument, contentWindow } = frame;
  if (contentWindow === null || contentDocument?.location.pathname !== DOCUMENT) frame.remove();
  else latest = (input, init) => (contentWindow as Window & typeof globalThis).fetch(input, init);
  return latest;
}
