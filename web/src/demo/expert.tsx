// Sending options of the weft call, with alternatives; collapsed.

import type { Setting } from '../model/types';

interface ExpertProps {
  readonly settings: readonly Setting[];
  readonly choose: (name: string, value: string) => void;
}

/** Setting in plain words, with explanations of unclear choices. */
interface Words {
  readonly title: string;
  readonly decides: string;
  readonly choices: Readonly<Record<string, string>>;
}

const WORDS: Readonly<Record<string, Words>> = {
  scheduler: {
    title: 'Scheduler',
    decides: 'Chooses the link of each packet.',
    choices: {
      weft: 'weft: where it arrives first',
      converge: 'converge: by rate, fewer where it comes late',
      single: 'single: one link, always',
      migrate: 'migrate: one link, the next when it dies',
      min_rtt: 'min_rtt: the link with the shortest round trip',
      throughput: 'throughput: by rate alone',
      mprtp: 'mprtp: by rate and loss',
      duplicate: 'duplicate: everything over every link',
    },
  },
  prefer: {
    title: 'Prefer',
    decides: 'Preference on bad links: fewer freezes, or a higher resolution.',
    choices: { calm: 'calm: no still pictures', balanced: 'balanced: both as far as possible', pixels: 'pixels: no coarse ones' },
  },
  protection: {
    title: 'Protection',
    decides: 'Amount of repair packets, which replace lost ones.',
    choices: {
      none: 'none',
      webrtc_table: 'webrtc_table: as browsers do',
      path_specific: 'path_specific: each link by its own losses',
      weft: 'weft: more while a link is in doubt',
    },
  },
  controller: {
    title: 'Controller',
    decides: 'Estimates the rate of each link.',
    choices: { gcc: 'gcc: by delay and loss' },
  },
};

export function Expert({ settings, choose }: ExpertProps) {
  if (settings.length === 0) return null;
  return (
    <details class="card expert">
      <summary>Expert: how the left call sends</summary>
      <div class="settings">
        {settings.map(({ name, value, choices }) => {
          const words = WORDS[name];
          return (
            <div key={name} class="setting">
              <label for={`setting-${name}`}>{words?.title ?? name}</label>
              <select
                id={`setting-${name}`}
                aria-describedby={`decides-${name}`}
                value={value}
                onChange={(event) => choose(name, event.currentTarget.value)}
              >
                {choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {words?.choices[choice] ?? choice}
                  </option>
                ))}
              </select>
              <p id={`decides-${name}`} class="quiet">
                {words?.decides}
              </p>
            </div>
          );
        })}
      </div>
    </details>
  );
}
