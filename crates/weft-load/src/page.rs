//! Results of a run as a page in one file, without scripts and requests.

use std::fmt::Write as _;

use crate::report::{LoadReport, Viewer};
use crate::summary::{description, rows};

/// Colours and type of the lab's report (web/report).
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d5dae0;--bar:#3b6fb6;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--paper:#14171a;--line:#3a4047;--bar:#7aa7e6;--bad:#ff8a80}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%;margin:1rem 0}\
th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line)}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
.warning{border-left:4px solid var(--bad);padding:.2rem .8rem;margin:.6rem 0}\
.wide{overflow-x:auto}";

/// Maximum number of rows in the table of viewers; the JSON file has all. Chosen by us.
const MAX_ROWS: usize = 500;

/// Returns the page of a run; `command` is its command line.
#[must_use]
pub fn page(report: &LoadReport, command: &str) -> String {
    let mut html = String::new();
    let title = escaped(&description(report));
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>weft load</title><style>{STYLE}</style></head><body>\n\
         <h1>weft load</h1>\n<p>{title}.</p>\n<p><code>{}</code></p>\n",
        escaped(command)
    );
    for warning in &report.warnings {
        let _ = writeln!(html, "<p class=\"warning\">{}</p>", escaped(warning));
    }
    for failures in &report.failures {
        let _ = writeln!(
            html,
            "<p class=\"warning\">{} failed: {}</p>",
            failures.count,
            escaped(&failures.reason)
        );
    }
    html.push_str("<table>\n");
    for (name, value) in rows(report) {
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>",
            escaped(&value)
        );
    }
    html.push_str("</table>\n");
    viewers(&mut html, report);
    let _ = write!(html, "<p>weft {}</p>\n</body></html>\n", report.version);
    html
}

fn viewers(html: &mut String, report: &LoadReport) {
    let shown = report.each_viewer.len().min(MAX_ROWS);
    if shown == 0 {
        return;
    }
    let _ = write!(
        html,
        "<h2>Viewers</h2>\n<div class=\"wide\"><table>\n<tr><th>name</th><th class=\"n\">first \
         picture, ms</th><th class=\"n\">streams</th><th class=\"n\">whole, %</th>\
         <th class=\"n\">pictures/s</th><th class=\"n\">kbit/s</th>\
         <th class=\"n\">p99, ms</th><th class=\"n\">freezes</th><th>encodings, %</th></tr>\n"
    );
    for viewer in &report.each_viewer[..shown] {
        row(html, viewer);
    }
    html.push_str("</table></div>\n");
    if report.each_viewer.len() > shown {
        let _ = writeln!(
            html,
            "<p>The JSON file has all {} viewers.</p>",
            report.each_viewer.len()
        );
    }
}

fn row(html: &mut String, viewer: &Viewer) {
    let first = viewer.first_picture_ms;
    let first = first.map_or("none".to_owned(), |ms| format!("{ms:.0}"));
    let encodings = viewer.encodings.iter();
    let encodings: Vec<String> = encodings.map(|s| format!("{:.0}", s * 100.0)).collect();
    let weak = if viewer.weak { " (weak)" } else { "" };
    let _ = writeln!(
        html,
        "<tr><td>{}{weak}</td><td class=\"n\">{first}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{:.2}</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.0}</td>\
         <td class=\"n\">{:.1}</td><td class=\"n\">{}</td><td>{}</td></tr>",
        escaped(&viewer.name),
        viewer.streams_seen,
        viewer.share_whole * 100.0,
        viewer.fps,
        viewer.kbps,
        viewer.latency_p99_ms,
        viewer.freezes,
        encodings.join(" / ")
    );
}

/// Escapes text for HTML, because reasons of failures contain text from the server.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
