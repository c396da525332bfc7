// Preview before joining: our picture and sound, and the name.

import { useState } from 'preact/hooks';
import type { Problem } from '../model/problem';
import type { May } from '../signal/access';
import { Field } from '../view/field';
import { Brand, Notice, Picture } from '../view/parts';
import { CameraToggle, MicrophoneToggle } from './controls';
import { DeviceMenu, LevelMeter } from './devices';
import type { OwnMedia } from './media';
import { rememberedName, rememberName } from './name';

interface LobbyProps {
  readonly room: string;
  readonly may: May;
  readonly own: OwnMedia;
  readonly onJoin: (name: string) => void;
}

export function Lobby({ room, may, own, onJoin }: LobbyProps) {
  const [name, setName] = useState(rememberedName);
  const [asked, setAsked] = useState(false);
  const missing = name.trim() === '';

  const submit = (event: Event): void => {
    event.preventDefault();
    setAsked(true);
    if (missing) return document.getElementById('name')?.focus();
    rememberName(name.trim());
    onJoin(name.trim());
  };

  return (
    <main class={may === 'watch' ? 'page narrow' : 'page lobby'}>
      <Brand />
      <h1>Join “{room}”</h1>
      {may === 'watch' && <p class="lead">You are invited to watch and listen: you need neither camera nor microphone.</p>}
      <div class="lobby-body">
        {may === 'take_part' && <Preview own={own} />}
        <form class="card form" onSubmit={submit} noValidate>
          <Field
            id="name"
            label="Your name"
            hint={may === 'watch' ? 'The others see your name' : 'The others see it under your picture'}
            error={asked && missing ? 'Enter a name, so that the others know who you are.' : null}
            value={name}
            onInput={setName}
            focused
          />
          <button type="submit" class="button primary">
            Join
          </button>
        </form>
      </div>
    </main>
  );
}

function Preview({ own }: { readonly own: OwnMedia }) {
  return (
    <section class="preview" aria-label="How the others will see you">
      <div class="tile">
        <Picture stream={own.cameraOn ? own.stream : null} label="Your own picture" muted mirrored />
        {!own.cameraOn && <p class="veil">{own.stream === null ? absence(own.problem) : 'Your camera is off.'}</p>}
      </div>
      {own.problem !== null && <Notice problem={own.problem} action={{ label: 'Try again', run: own.ask }} />}
      <div class="controls">
        <MicrophoneToggle own={own} />
        <CameraToggle own={own} />
      </div>
      <div class="menus">
        <DeviceMenu label="Camera" choice={own.cameras} />
        <DeviceMenu label="Microphone" choice={own.microphones}>
          <LevelMeter stream={own.soundOn ? own.stream : null} />
        </DeviceMenu>
      </div>
    </section>
  );
}

/** Returns the reason why we have neither picture nor sound. */
function absence(problem: Problem | null): string {
  return problem === null ? 'Your browser asks for camera and microphone. You can also just watch.' : 'Without them you can still watch and listen.';
}
