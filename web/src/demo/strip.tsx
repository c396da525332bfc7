import { WINDOW_S, type Run } from './history';

interface StripProps {
  readonly label: string;
  readonly runs: readonly Run<string>[];
  readonly now: number;
  /** What the states are called, where the word differs. */
  readonly words?: Readonly<Record<string, string>>;
}

/** States over the last minute, aligned with the plots above it. */
export function Strip({ label, runs, now, words = {} }: StripProps) {
  const start = now - WINDOW_S;
  const latest = runs.at(-1)?.state;
  return (
    <div class="strip" role="img" aria-label={`${label}: ${latest === undefined ? 'unknown' : (words[latest] ?? latest)} now`}>
      <span class="strip-label" aria-hidden="true">
        {label}
      </span>
      <span class="strip-track" aria-hidden="true">
        {runs.map((run) => {
          const from = Math.max(start, run.from);
          const width = run.to - from;
          const word = words[run.state] ?? run.state;
          return (
            <span
              key={run.from}
              class={`run run-${run.state}`}
              title={`${word} for ${(run.to - run.from).toFixed(1)} s`}
              style={{ left: `${((from - start) / WINDOW_S) * 100}%`, width: `${(width / WINDOW_S) * 100}%` }}
            >
              <span>{word}</span>
            </span>
          );
        })}
      </span>
    </div>
  );
}
