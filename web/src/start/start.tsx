import { useState } from 'preact/hooks';
import { roomFrom } from '../routes';
import { Brand } from '../view/parts';

const NAME_KEY = 'weft.name';

/** The name used last time, on this browser only. */
export function rememberedName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? '';
  } catch {
    return '';
  }
}

export function rememberName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // Storage may be forbidden; then the name is typed again.
  }
}

interface StartProps {
  /** Set when the address says which room. */
  readonly room?: string;
  readonly onJoin: (room: string, name: string) => void;
}

export function Start({ room, onJoin }: StartProps) {
  const [typedRoom, setTypedRoom] = useState(room ?? '');
  const [name, setName] = useState(rememberedName);
  const [asked, setAsked] = useState(false);
  const target = room ?? roomFrom(typedRoom);
  const roomMissing = target === '';
  const nameMissing = name.trim() === '';

  const submit = (event: Event): void => {
    event.preventDefault();
    setAsked(true);
    if (roomMissing || nameMissing) {
      document.getElementById(roomMissing ? 'room' : 'name')?.focus();
      return;
    }
    rememberName(name.trim());
    onJoin(target, name.trim());
  };

  return (
    <main class="page narrow start">
      <Brand />
      <h1>{room === undefined ? 'A call that goes on when a link dies.' : `Join “${room}”`}</h1>
      <p class="lead">
        {room === undefined
          ? 'Everybody who opens the same room sees and hears each other.'
          : 'Your browser will ask for camera and microphone. You can also just watch.'}
      </p>
      <form class="card form" onSubmit={submit} noValidate>
        {room === undefined && (
          <Field
            id="room"
            label="Room"
            hint={typedRoom !== '' && target !== typedRoom ? `Its address will be /r/${target}` : 'Any word you agree on'}
            error={asked && roomMissing ? 'Give the room a name, for instance “standup”.' : null}
            value={typedRoom}
            onInput={setTypedRoom}
            focused={true}
          />
        )}
        <Field
          id="name"
          label="Your name"
          hint="The others see it under your picture"
          error={asked && nameMissing ? 'Enter a name, so that the others know who you are.' : null}
          value={name}
          onInput={setName}
          focused={room !== undefined}
        />
        <button type="submit" class="button primary">
          Join
        </button>
      </form>
    </main>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly error: string | null;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly focused: boolean;
}

function Field({ id, label, hint, error, value, onInput, focused }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        maxLength={64}
        autocomplete={id === 'name' ? 'name' : 'off'}
        autoFocus={focused}
        aria-describedby={`${id}-hint`}
        aria-invalid={error !== null}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class={error === null ? 'hint' : 'hint error'} role={error === null ? undefined : 'alert'}>
        {error ?? hint}
      </p>
    </div>
  );
}
