import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './report.css';
import type { Data } from './data';
import { unfoldOnPaper } from './paper';
import { Report } from './report';

const text = document.getElementById('data')?.textContent ?? '';
const root = document.getElementById('report');
if (root !== null) {
  try {
    const data = JSON.parse(text) as Data;
    document.title = `${data.scenario.title} · weft lab`;
    render(<Report data={data} />, root);
    unfoldOnPaper();
  } catch {
    render(<p class="empty">This report has no data: run “weft lab report DIR” with the folder that it belongs to.</p>, root);
  }
}
