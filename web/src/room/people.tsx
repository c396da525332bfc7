// List of the people in a room.

import { useState } from 'preact/hooks';
import { problemFrom } from '../model/problem';
import type { Participant } from '../model/types';
import { everybody, hands, type Presence } from '../signal/presence';
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
  /** Shows the problem if it fails. */
  readonly attempt: (act: Promise<unknown>) => void;
  readonly onClose: () => void;
}

export function People({ presence, session, attempt, onClose }: PeopleProps) {
  const moderates = presence.self !== null && presence.participants.get(presence.self)?.moderator === true;
  const raised = hands(presence);
  const rest = everybody(presence).filter(({ who }) => who.hand === null);
  return (
    <Panel kind="people" title="People" onClose={onClose}>
      {moderates && <Moderation presence={presence} session={session} attempt={attempt} />}
      <ul class="people" aria-label="People in the room">
        {[...raised, ...rest].map((each, at) => (
          <Person key={each.id} person={each.who} place={at < raised.length ? at + 1 : 0} own={each.who.id === presence.self} moderates={moderates} session={session} attempt={attempt} />
        ))}
      </ul>
    </Panel>
  );
}

/** Lock, waiting room, and waiting participants. */
function Moderation({ presence: { settings, recordable, queue }, session: { acts }, attempt }: Pick<PeopleProps, 'presence' | 'session' | 'attempt'>) {
  return (
    <section class="moderation" aria-label="Moderation">
      <label class="switch">
        <input type="checkbox" checked={settings.locked} onChange={(event) => attempt(acts.setSettings({ locked: event.currentTarget.checked }))} />
        Lock the room: nobody else comes in
      </label>
      <label class="switch">
        <input type="checkbox" checked={settings.waitingRoom} onChange={(event) => attempt(acts.setSettings({ waiting_room: event.currentTarget.checked }))} />
        Waiting room: you let people in
      </label>
      {recordable && (
        <label class="switch">
          <input type="checkbox" checked={settings.recorded} onChange={(event) => attempt(acts.record(event.currentTarget.checked))} />
          Record on the server: everybody is told
        </label>
      )}
      {queue.length > 0 && (
        <ul aria-label="People who wait">
          {queue.map(({ id, name }) => (
            <li key={id} class="person person-row">
              <bdi class="person-name">{name}</bdi>
              <button type="button" class="button small primary" aria-label={`Admit ${name}`} onClick={() => attempt(acts.admit(id))}>
                Admit
              </button>
              <button type="button" class="button small" aria-label={`Refuse ${name}`} onClick={() => attempt(acts.remove(id))}>
                Refuse
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface PersonProps {
  readonly person: Participant;
  /** Position among the raised hands; 0 while the hand is down. */
  readonly place: number;
  readonly own: boolean;
  /** Whether we may moderate. */
  readonly moderates: boolean;
  readonly session: RoomSession;
  readonly attempt: (act: Promise<unknown>) => void;
}

function Person({ person, place, own, moderates, session, attempt }: PersonProps) {
  const [renaming, setRenaming] = useState(false);
  const [removing, setRemoving] = useState(false);
  const { acts } = session;
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
      {moderates && !own && (
        <div class="notice-actions">
          <button type="button" class="button small" disabled={person.muted || !person.publishing.audio} aria-label={`${person.muted ? 'Muted' : 'Mute'} ${person.name}`} onClick={() => attempt(acts.mute(person.id))}>
            {person.muted ? 'Muted' : 'Mute'}
          </button>
          <button
            type="button"
            class={removing ? 'button small leave' : 'button small'}
            aria-label={removing ? `Really remove ${person.name}` : `Remove ${person.name}`}
            title="They cannot come back with the same invitation"
            onBlur={() => setRemoving(false)}
            onClick={() => (removing ? attempt(acts.remove(person.id)) : setRemoving(true))}
          >
            {removing ? 'Really remove' : 'Remove'}
          </button>
        </div>
      )}
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
        // The panel stays open.
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
