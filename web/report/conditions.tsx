// How it was run, so that anybody can run it again.

import { useState } from 'preact/hooks';
import type { Data } from './data';
import { seconds } from './figures';

export function Conditions({ data }: { data: Data }) {
  const { scenario } = data;
  return (
    <>
      {(data.sides ?? [data]).map(({ conditions }) => (
        <Command key={conditions.command + String(conditions.unix_s)} text={conditions.command} />
      ))}
      {data.notes.map((note) => (
        <p key={note} class="quiet small">
          {note}
        </p>
      ))}
      <div class="columns">
        <div hidden={scenario.links.length === 0}>
          <h3>Links</h3>
          <table>
            <tbody>
              {scenario.links.map((link) => (
                <tr key={link.name}>
                  <th scope="row">{link.name}</th>
                  <td>
                    <code>{link.forward}</code>
                    {link.backward !== link.forward && (
                      <>
                        <br />
                        <span class="quiet">back</span> <code>{link.backward}</code>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {data.systems.length > 1 && <p class="quiet small">As the first system has them; the scenario says what the others change.</p>}
        </div>
        <div>
          <h3>Flows</h3>
          <table>
            <tbody>
              {scenario.flows.map((flow) => (
                <tr key={flow.name}>
                  <th scope="row">{flow.name}</th>
                  <td>
                    {flow.what} {flow.via.length > 0 && <span class="quiet">over {flow.via.join(', ')}</span>}
                    <span class="span" title={`from ${seconds(flow.start_s)} to ${seconds(Math.min(flow.stop_s, scenario.duration_s))}`}>
                      <i style={{ left: `${(flow.start_s / scenario.duration_s) * 100}%`, right: `${100 - (Math.min(flow.stop_s, scenario.duration_s) / scenario.duration_s) * 100}%` }} />
                    </span>
                  </td>
                  <td class="quiet nowrap">
                    {seconds(flow.start_s)} – {seconds(Math.min(flow.stop_s, scenario.duration_s))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      {scenario.text !== '' && (
        <details>
          <summary>
            The scenario, <code>{scenario.file}</code>
          </summary>
          <pre>{scenario.text}</pre>
        </details>
      )}
      <details>
        <summary>What the metrics mean, and where they come from</summary>
        <table>
          <tbody>
            {data.metrics.map((metric) => (
              <tr key={metric.name}>
                <th scope="row">
                  {metric.title}
                  <br />
                  <code class="quiet">{metric.name}</code>
                </th>
                <td>{metric.formula}</td>
                <td class="quiet">{metric.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    // Pages from files have no clipboard everywhere: then the text can still be marked.
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
