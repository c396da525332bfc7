// List of the people in a room.

import { useState } from 'preact/hooks';
import { problemFrom } from '../model/problem';
import type { Participant } from '../model/types';
import { hands, type Presence } from '../signal/presence';
import type { RoomSession } from '../signal/session';
import { Field } from '../view/field';
import { Hand, Microphone } from '../view/icons';
import { sentences } from '../view/parts';
import { rememberName } from './name';
import { Panel } from './panel';
import { statusOf } from './status';

interface PeopleProps {
  readonly presence: Presence;
  readonly session: RoomSession;
  readonly onClose: () => void;
}

export function People({ presence, session, onClose }: PeopleProps) {
  const raised = hands(presence);
  const rest = [...presence.participants.values()].filter(({ hand }) => hand === null);
  return (
    <Panel kind="people" title="People" onClose={onClose}>
      <ul class="people" aria-label="People in the room">
        {[...raised, ...rest].map((each) => (
          <Person key={each.id} person={each} place={raised.indexOf(each) + 1} own={each.id === presence.self} session={session} />
        ))}
      </ul>
    </Panel>
  );
}

interface PersonProps {
  readonly person: Participant;
  /** Place among the raised hands; 0 while the hand is down. */
  readonly place: number;
  readonly own: boolean;
  readonly session: RoomSession;
}

function Person({ person, place, own, session }: PersonProps) {
  const [renaming, setRenaming] = useState(false);
  const status = statusOf(person);
  return (
    <li class="person">
      <div class="person-row">
        <span class="person-name">
          <bdi>{person.name}</bdi>
          {own && <span class="quiet"> (you)</span>}
        </span>
        {place > 0 && (
          <span class="raised">
            <Hand /> {place}
            <span class="hidden-visually">{place === 1 ? ', first raised hand' : `, raised hand number ${place}`}</span>
          </span>
        )}
        {status !== null && <span class="quiet person-status">{status}</span>}
        {status === null && !person.publishing.audio && (
          <>
            <Microphone off />
            <span class="hidden-visually">muted</span>
          </>
        )}
        {own && !renaming && (
          <button type="button" class="button small" onClick={() => setRenaming(true)}>
            Rename
          </button>
        )}
      </div>
      {own && renaming && <Rename name={person.name} session={session} onDone={() => setRenaming(false)} />}
    </li>
  );
}

function Rename({ name, session, onDone }: { readonly name: string; readonly session: RoomSession; readonly onDone: () => void }) {
  const [typed, setTyped] = useState(name);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (typed.trim() === '') return setError('Enter a name, so that the others know who you are.');
    try {
      await session.rename(typed.trim());
      rememberName(typed.trim());
      onDone();
    } catch (thrown) {
      setError(sentences(problemFrom(thrown)));
    }
  };
  return (
    <form
      class="rename"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // The panel stays.
        event.preventDefault();
        onDone();
      }}
      noValidate
    >
      <Field id="new-name" label="New name" hint="The others see it at once" error={error} value={typed} onInput={setTyped} focused />
      <div class="notice-actions">
        <button type="submit" class="button primary small">
          Save
        </button>
        <button type="button" class="button small" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}
