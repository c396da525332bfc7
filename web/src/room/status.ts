// Short state of a participant, next to the name; null if picture and microphone icon are
// sufficient.

import type { Participant } from '../model/types';

export function statusOf({ publishing, upload, muted = false }: Pick<Participant, 'publishing' | 'upload'> & { readonly muted?: boolean }): string | null {
  if (muted && upload === 'connected') return publishing.cameras.length > 0 ? 'muted by a moderator' : 'muted by a moderator, camera off';
  if (publishing.cameras.length > 0 || publishing.audio) return null;
  switch (upload) {
    case 'not_allowed':
      return 'only watching';
    case 'none':
      return 'sends nothing yet';
    case 'connected':
      return 'muted, camera off';
    case 'lost':
      return 'connection lost';
  }
}

/** Returns our own short state. */
export function ownStatus(may: 'watch' | 'take_part', sends: boolean, state: 'failed' | 'broken' | 'fine'): string {
  if (may === 'watch') return 'you, only watching';
  if (!sends) return 'you, sending nothing';
  if (state === 'failed') return 'you, upload failed';
  return state === 'broken' ? 'you, reconnecting…' : 'you';
}
