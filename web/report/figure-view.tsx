import { centred, type Row } from './data';
import { interval, number, scaled } from './figures';

/** A centre with its interval; beside a median the mean, of which an interval says nothing. */
export function Figure({ row, name }: { readonly row: Row; readonly name: string }) {
  const { centre, ci95, mean } = centred(row);
  return (
    <>
      {mean !== null && <span class="quiet">median </span>}
      <strong>{number(scaled(name, centre))}</strong> <span class="quiet">{interval(name, ci95)}</span>
      {mean !== null && <span class="quiet small-line">mean {number(scaled(name, mean))}</span>}
    </>
  );
}
