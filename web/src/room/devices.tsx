// Choice of camera, microphone and loudspeaker, before and during a call.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../view/hooks';
import { Devices } from '../view/icons';
import { loudspeaker } from '../view/parts';
import { useDevices, type Choice } from './media';

interface DevicesButtonProps {
  /** Null if we send no picture. */
  readonly cameras: Choice | null;
  /** Null if we send no sound. */
  readonly microphones: Choice | null;
  /** Our own media; access to it makes the browser list the devices. */
  readonly stream: MediaStream | null;
  readonly soundOn: boolean;
}

/** Button that opens the choice of devices during a call; closed by Escape or a click elsewhere. */
export function DevicesButton({ cameras, microphones, stream, soundOn }: DevicesButtonProps) {
  const speakers = useSpeakers(stream);
  if (cameras === null && microphones === null && speakers === null) return null;
  return (
    <>
      <button type="button" class="button toggle" aria-label="Devices" aria-keyshortcuts="D" title="Devices (D)" popovertarget="devices">
        <Devices />
        <span aria-hidden="true">Devices</span>
      </button>
      <div class="card popover devices" id="devices" popover="auto" role="dialog" aria-label="Devices">
        {cameras !== null && <DeviceMenu label="Camera" choice={cameras} />}
        {microphones !== null && (
          <DeviceMenu label="Microphone" choice={microphones}>
            <LevelMeter stream={soundOn ? stream : null} />
          </DeviceMenu>
        )}
        {speakers !== null && <DeviceMenu label="Loudspeaker" choice={speakers} />}
      </div>
    </>
  );
}

/** Loudspeakers; null if the browser does not let a page choose one. */
function useSpeakers(access: MediaStream | null): Choice | null {
  const devices = useDevices('audiooutput', access);
  const chosen = useStore(loudspeaker);
  const gone = chosen !== '' && devices.length > 0 && !devices.some(({ id }) => id === chosen);
  useEffect(() => {
    // Unplugged: the system's choice continues to play.
    if (gone) loudspeaker.set('');
  }, [gone]);
  if (!('setSinkId' in HTMLMediaElement.prototype) || devices.length === 0) return null;
  return { devices, chosen: chosen === '' ? (devices[0]?.id ?? null) : chosen, choose: (id) => loudspeaker.set(id) };
}

interface DeviceMenuProps {
  readonly label: string;
  readonly choice: Choice;
  readonly children?: ComponentChildren;
}

export function DeviceMenu({ label, choice, children }: DeviceMenuProps) {
  const id = `device-${label.toLowerCase()}`;
  return (
    <div class="menu">
      <label for={id}>{label}</label>
      <select id={id} value={choice.chosen ?? ''} disabled={choice.devices.length === 0} onChange={(event) => choice.choose(event.currentTarget.value)}>
        {choice.devices.length === 0 && <option value="">None found yet</option>}
        {choice.devices.map(({ id: device, name }) => (
          <option key={device} value={device}>
            {name}
          </option>
        ))}
      </select>
      {children}
    </div>
  );
}

/** Interval between levels, ms. */
const LEVEL_EVERY_MS = 50;

/** Level of a normal voice, which fills the meter: -20 dBov. Chosen by us. */
const FULL = 0.1;

/** Level of our own sound, so that people see whether they are heard. */
export function LevelMeter({ stream }: { readonly stream: MediaStream | null }) {
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    if (stream === null || stream.getAudioTracks().length === 0) return undefined;
    const audio = new AudioContext();
    const analyser = audio.createAnalyser();
    audio.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    // Some browsers measure only after an interaction with the page.
    const resume = (): void => void audio.resume();
    for (const use of ['pointerdown', 'keydown']) addEventListener(use, resume);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, each) => sum + each * each, 0) / samples.length;
      if (meter.current !== null) meter.current.value = Math.min(1, Math.sqrt(power) / FULL);
    }, LEVEL_EVERY_MS);
    return () => {
      for (const use of ['pointerdown', 'keydown']) removeEventListener(use, resume);
      clearInterval(timer);
      if (meter.current !== null) meter.current.value = 0;
      void audio.close();
    };
  }, [stream]);
  return <meter class="level" ref={meter} aria-label="Level of your microphone" min={0} max={1} value={0} />;
}
