import { useState } from 'preact/hooks';
import { roomFrom } from '../routes';
import { Field } from '../view/field';
import { Brand } from '../view/parts';

interface StartProps {
  /** Whether this server has the demo. */
  readonly demo: boolean;
  readonly onEnter: (room: string) => void;
}

/** Choice of a room; the name is entered in the room's lobby. */
export function Start({ demo, onEnter }: StartProps) {
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
      <h1>A call that continues when a link fails.</h1>
      {demo && (
        <section class="card form">
          <p>This is the demo: the same call twice, over two links and over one. Cut a link and see.</p>
          <a class="button primary" href="/demo">
            Watch the demo
          </a>
        </section>
      )}
      <p class="lead">{demo && 'This server also has rooms. '}Everybody who opens the same room sees and hears each other.</p>
      <form class="card form" onSubmit={submit} noValidate>
        <Field
          id="room"
          label="Room"
          hint={typed !== '' && room !== typed ? `Its address will be /r/${room}` : 'Any word you agree on'}
          error={asked && room === '' ? 'Give the room a name, for instance “standup”.' : null}
          value={typed}
          onInput={setTyped}
          focused={!demo}
        />
        <button type="submit" class={demo ? 'button' : 'button primary'}>
          To the room
        </button>
      </form>
    </main>
  );
}
