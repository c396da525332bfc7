import { WINDOW_S, type Run } from './history';

interface StripProps {
  readonly label: string;
  readonly runs: readonly Run<string>[];
  readonly now: number;
  /** Names of the states, if they differ. */
  readonly words?: Readonly<Record<string, string>>;
}

/** Share of the strip's height for each state: good states are a thin line, and the others stand
 *  out. */
const HEIGHTS: Readonly<Record<string, number>> = { up: 0.25, moving: 0.25, suspect: 0.6 };

/** States over the last minute, aligned with the plots above. A drawing, because its moving parts are not layout. */
export function Strip({ label, runs, now, words = {} }: StripProps) {
  const start = now - WINDOW_S;
  const latest = runs.at(-1)?.state;
  return (
    <div class="strip" role="img" aria-label={`${label}: ${latest === undefined ? 'unknown' : (words[latest] ?? latest)} now`}>
      <span class="strip-label" aria-hidden="true">
        {label}
      </span>
      <svg class="strip-track" viewBox={`0 0 ${WINDOW_S} 1`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {runs.map((run) => {
          const from = Math.max(0, run.from - start);
          const height = HEIGHTS[run.state] ?? 1;
          return (
            <rect key={run.from} class={`run-${run.state}`} x={from} width={Math.max(0, run.to - start - from)} y={(1 - height) / 2} height={height}>
              <title>{`${words[run.state] ?? run.state} for ${(run.to - run.from).toFixed(1)} s`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
}
