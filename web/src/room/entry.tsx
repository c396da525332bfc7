// Entry of a room: access, preview, and then the call.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { askAccess, type Access, type May } from '../signal/access';
import { browserEnv } from '../signal/env';
import { ProblemPage } from '../view/parts';
import { Lobby } from './lobby';
import { useOwnMedia } from './media';
import { Room } from './room';
import { TokenPage } from './token';

interface EntryProps {
  readonly room: string;
  /** Name from the address, with which the page joins at once; null without one. */
  readonly name: string | null;
  readonly onLeave: () => void;
}

export function Entry({ room, name, onLeave }: EntryProps) {
  const [access, setAccess] = useState<Access | null>(null);
  const ask = useCallback(() => {
    // The server refused the token, so it is still in the address.
    const shown = new URLSearchParams(location.search).get('token');
    void accessWith(room, shown).then(setAccess);
  }, [room]);
  useEffect(ask, [ask]);

  if (access === null) return null;
  switch (access.kind) {
    case 'in':
      return <Inside room={room} name={name} may={access.may} onLeave={onLeave} />;
    case 'token':
      return <TokenPage room={room} problem={access.problem} />;
    default:
      return (
        <ProblemPage problem={access.problem}>
          <button type="button" class="button primary" onClick={ask}>
            Try again
          </button>
        </ProblemPage>
      );
  }
}

/** Requests access with the token in the address, then with the one stored by the browser. */
async function accessWith(room: string, shown: string | null): Promise<Access> {
  const access = await askAccess(browserEnv(), room, shown);
  if (access.kind !== 'token' || shown === null) return access;
  const before = await askAccess(browserEnv(), room, null);
  return before.kind === 'in' ? before : access;
}

function Inside({ room, name, may, onLeave }: EntryProps & { readonly may: May }) {
  const own = useOwnMedia(may === 'take_part');
  const [joined, setJoined] = useState(name);
  if (joined === null) return <Lobby room={room} may={may} own={own} onJoin={setJoined} />;
  return <Room room={room} name={joined} may={may} own={own} onLeave={onLeave} />;
}
