import { useState } from 'preact/hooks';
import { roomFrom } from '../routes';
import { Field } from '../view/field';
import { Brand } from '../view/parts';

/** Which room; who one is there is asked at its door. */
export function Start({ onEnter }: { readonly onEnter: (room: string) => void }) {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState(false);
  const room = roomFrom(typed);

  const submit = (event: Event): void => {
    event.preventDefault();
    setAsked(true);
    if (room === '') document.getElementById('room')?.focus();
    else onEnter(room);
  };

  return (
    <main class="page narrow start">
      <Brand />
      <h1>A call that goes on when a link dies.</h1>
      <p class="lead">Everybody who opens the same room sees and hears each other.</p>
      <form class="card form" onSubmit={submit} noValidate>
        <Field
          id="room"
          label="Room"
          hint={typed !== '' && room !== typed ? `Its address will be /r/${room}` : 'Any word you agree on'}
          error={asked && room === '' ? 'Give the room a name, for instance “standup”.' : null}
          value={typed}
          onInput={setTyped}
          focused
        />
        <button type="submit" class="button primary">
          To the room
        </button>
      </form>
    </main>
  );
}
