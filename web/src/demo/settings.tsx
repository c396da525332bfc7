// How the weft call sends, and what else it could be doing.

import type { Setting } from '../model/types';

interface SettingsProps {
  readonly settings: readonly Setting[];
  readonly choose: (name: string, value: string) => void;
}

export function Settings({ settings, choose }: SettingsProps) {
  return (
    <div class="settings">
      {settings.map(({ name, value, choices }) => (
        <label key={name} class="setting" title={`The ${name} of the weft call; takes effect at once`}>
          <span class="quiet">{name}</span>
          <select value={value} onChange={(event) => choose(name, event.currentTarget.value)}>
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}
