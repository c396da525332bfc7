// Drawn for a 24 unit box with a line of 2. Always beside or inside a label, so hidden
// from screen readers.

import type { ComponentChildren } from 'preact';

function Icon({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const Microphone = ({ off = false }: { readonly off?: boolean }) => (
  <Icon>
    <rect x="9" y="3" width="6" height="11" rx="3" />
    <path d="M5 11a7 7 0 0 0 14 0M12 18v3" />
    {off && <path class="strike" d="M4 4l16 16" />}
  </Icon>
);

export const Camera = ({ off = false }: { readonly off?: boolean }) => (
  <Icon>
    <rect x="3" y="7" width="12" height="10" rx="2" />
    <path d="M15 11l6-3v8l-6-3" />
    {off && <path class="strike" d="M4 4l16 16" />}
  </Icon>
);

export const Devices = () => (
  <Icon>
    <path d="M4 7h9M19 7h1M4 17h1M11 17h9" />
    <circle cx="16" cy="7" r="3" />
    <circle cx="8" cy="17" r="3" />
  </Icon>
);

/** One large tile above the others, or all of the same size. */
export const View = ({ speaker }: { readonly speaker: boolean }) => (
  <Icon>
    <path d={speaker ? 'M4 4h16v10H4zM4 18h4v2H4zM10 18h4v2h-4zM16 18h4v2h-4z' : 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z'} />
  </Icon>
);

/** Arrow out of a screen, or a cross on it while it is shared. */
export const Screen = ({ off }: { readonly off: boolean }) => (
  <Icon>
    <path d={off ? 'M3 5h18v12H3zM8 20h8M12 14V8M9 11l3-3 3 3' : 'M3 5h18v12H3zM8 20h8M9 8l6 6M15 8l-6 6'} />
  </Icon>
);

export const Chat = () => (
  <Icon>
    <path d="M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5" />
  </Icon>
);

export const People = () => (
  <Icon>
    <circle cx="9" cy="8" r="3" />
    <path d="M3 19c0-4 2-6 6-6s6 2 6 6M15 5.4a3 3 0 0 1 0 5.2M17 13.5c2.6.7 4 2.5 4 5.5" />
  </Icon>
);

export const Hand = () => (
  <Icon>
    <path d="M7 12V6a1.5 1.5 0 0 1 3 0v5V4.5a1.5 1.5 0 0 1 3 0V11V6a1.5 1.5 0 0 1 3 0v8l1.5-2a1.5 1.5 0 0 1 2.5 1.5L17 19a4 4 0 0 1-3.5 2H12a5 5 0 0 1-5-5z" />
  </Icon>
);

export const Smile = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M8 14.5c2 2.5 6 2.5 8 0M9 9.5v.5M15 9.5v.5" />
  </Icon>
);

export const Lock = () => (
  <Icon>
    <path d="M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3" />
  </Icon>
);

export const Close = () => (
  <Icon>
    <path d="M6 6l12 12M18 6L6 18" />
  </Icon>
);

export const Leave = () => (
  <Icon>
    <path d="M10 4H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h4M15 8l4 4-4 4M19 12H9" />
  </Icon>
);

export const Links = () => (
  <Icon>
    <path d="M4 8h5c4 0 2 8 6 8h5M4 16h5c1 0 1.6-.5 2-1.2M13 9.2c.4-.7 1-1.2 2-1.2h5" />
  </Icon>
);

export const Sound = () => (
  <Icon>
    <path d="M4 10v4h3l5 4V6l-5 4H4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11" />
  </Icon>
);

export const Copy = () => (
  <Icon>
    <path d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1" />
  </Icon>
);

export const Cut = ({ mended = false }: { readonly mended?: boolean }) => (
  <Icon>
    <path d={mended ? 'M3 12h18' : 'M3 12h5M16 12h5M15 6l-6 12'} />
  </Icon>
);

export const Restart = () => (
  <Icon>
    <path d="M5 12a7 7 0 1 0 2.3-5.2M5 4v4h4" />
  </Icon>
);

export const Pin = () => (
  <Icon>
    <path d="M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5" />
  </Icon>
);

export const FullScreen = () => (
  <Icon>
    <path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5" />
  </Icon>
);

export const PictureInPicture = () => (
  <Icon>
    <rect x="3" y="5" width="18" height="14" rx="2" />
    <path d="M12 12h6v4h-6z" />
  </Icon>
);

/** Two threads, woven: the mark of weft. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" />
    <path d="M7 11h4m6 0h8M7 21h8m6 0h4M11 7v8m0 6v4M21 7v4m0 6v8" />
  </svg>
);
