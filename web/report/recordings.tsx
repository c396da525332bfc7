// Calls that were read from files.

import type { Recorded } from './data';
import { seconds } from './figures';

export function Recordings({ recordings }: { recordings: readonly Recorded[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Recording</th>
            <th>Format</th>
            <th>Length</th>
            <th>Notes</th>
          </tr>
        </thead>
        <tbody>
          {recordings.map(({ name, format, about, seconds: length, notes, cut }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{format}</td>
              <td class="nowrap">{seconds(Math.round(length * 10) / 10)}</td>
              <td>
                {about}
                {[...(cut === null ? [] : [`Ends early: ${cut}`]), ...notes].map((note) => (
                  <span key={note} class="quiet small-line">
                    {note}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
