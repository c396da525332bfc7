use std::path::Path;

use weft_endpoint::Statistics;

use super::StatsFile;

const SOURCE: &str = include_str!("../statistics.rs");
const PAGE: &str = include_str!("../../../../docs/use/statistics.md");

fn is_name(text: &&str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[test]
fn the_book_has_every_field_of_the_statistics_file_and_no_other() {
    // The part before it is about the room.
    let (_, source) = SOURCE.split_once("fn policy").expect("a function `policy`");
    let texts: Vec<&str> = source.split('"').collect();
    let keys = texts.windows(2).filter(|pair| pair[1].starts_with(':'));
    let written: Vec<&str> = keys.map(|pair| pair[0]).filter(is_name).collect();
    for field in ["t", "rtt_ms", "budget_left_mb", "audio_packets"] {
        assert!(written.contains(&field), "{field} is not found");
    }
    for field in &written {
        assert!(
            PAGE.contains(&format!("`{field}`")),
            "docs/use/statistics.md has no `{field}`"
        );
    }
    let (page, _) = PAGE.split_once("## The demo").expect("a part about it");
    for field in fields_told(page) {
        assert!(written.contains(&field), "no field `{field}` is written");
    }
}

#[test]
fn the_demo_writes_the_fields_that_the_book_tells() {
    const DEMO: &str = include_str!("../demo/figures.rs");
    let (_, page) = PAGE.split_once("## The demo").expect("a part about it");
    let told = fields_told(page);
    assert!(told.contains(&"freeze_s"), "{told:?}");
    for field in told {
        assert!(
            DEMO.contains(&format!("\"{field}\": ")),
            "no field `{field}`"
        );
    }
}

/// Returns the fields in the first column of the page's tables.
fn fields_told(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let fields = rows.flat_map(|row| row.split('|').nth(1));
    let told = fields.flat_map(|cell| cell.split(',').map(|each| each.trim().trim_matches('`')));
    told.collect()
}

#[test]
fn a_full_disk_ends_the_figures_and_not_the_call() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        weft_testing::skipped("this system has no /dev/full");
        return;
    }
    let mut stats = StatsFile::create(full).expect("it opens");
    stats.write(&Statistics::default());
    stats.write(&Statistics::default());
    let told = stats.finish().expect_err("nothing was kept").to_string();
    assert!(told.contains("No space left on device"), "{told}");
}
