//! Tiles on the screens of people in a conference.

use weft_experiment::{FlowDetail, PersonRecord, ShownPicture, TilePicture, TileRecord};
use weft_units::{Duration, Instant};

use super::{Freeze, Picture, Useful, View, pictures};
use crate::measure::run::Run;
use crate::statistics::mean;

/// Returns the people of a group, if the flow is a group.
pub fn people<'a>(run: &Run<'a>, flow: usize) -> &'a [PersonRecord] {
    match &run.record.flows[flow].detail {
        FlowDetail::Conference(record) => &record.people,
        _ => &[],
    }
}

/// Returns the pictures of all tiles of a group, and the number of tiles.
pub fn shown<'a>(run: &Run<'a>, flow: usize) -> (usize, impl Iterator<Item = ShownPicture> + 'a) {
    let tiles = people(run, flow).iter().flat_map(|person| &person.tiles);
    let pictures = tiles.clone().flat_map(|tile| &tile.pictures).map(display);
    (tiles.count(), pictures)
}

fn display(picture: &TilePicture) -> ShownPicture {
    ShownPicture {
        captured_at: picture.captured_at(),
        shown_at: picture.shown_at,
    }
}

/// Returns a view for each tile of each person.
pub fn views(run: &Run<'_>, flow: usize) -> Vec<View> {
    let (from, end) = run.active(flow);
    let window = (Instant::ZERO + from, Instant::ZERO + end);
    let tiles = people(run, flow).iter().flat_map(|person| &person.tiles);
    tiles.filter_map(|tile| view(tile, window)).collect()
}

/// Returns the view of a tile; `None` if it was not on the screen within the window.
pub fn view(tile: &TileRecord, (from, end): (Instant, Instant)) -> Option<View> {
    let from = from.max(tile.since);
    let end = tile.until.map_or(end, |until| until.min(end));
    if from >= end {
        return None;
    }
    let within = |at: Instant| at >= from && at < end;
    let measured = || tile.pictures.iter().filter(|p| within(p.captured_at()));
    let all = tile.pictures.iter().map(display);
    let freezes = watched(tile, (from, end)).flat_map(|(begin, until)| {
        let of = all.clone();
        let of = of.filter(|p| p.shown_at >= begin && p.shown_at < until);
        pictures::freezes(of, begin, until)
    });
    let freezes: Vec<Freeze> = freezes.collect();
    let over = |of: fn(&TilePicture) -> f64| mean(measured().map(of));
    let first = tile.pictures.first();
    let first = first.map(|first| first.shown_at.saturating_since(tile.since));
    Some(View {
        freezes: Some(freezes),
        paused: Some(paused(tile, (from, end)).as_secs_f64()),
        first_picture_ms: first.map(|first| first.as_millis_f64()),
        picture: Picture {
            quantizer: over(|p| f64::from(p.quantizer)),
            psnr_db: over(|p| f64::from(p.psnr_db)),
            ssim: over(|p| f64::from(p.ssim)),
            brisque: None,
            height: over(|p| f64::from(p.height)),
        },
        useful: Some(Useful {
            bytes: measured().map(|p| f64::from(p.bytes)).sum(),
            seconds: end.saturating_since(from).as_secs_f64(),
        }),
        ..pictures::view(all, (from, end))
    })
}

/// Returns the times in which the tile should show pictures, without pauses.
fn watched(
    tile: &TileRecord,
    (from, end): (Instant, Instant),
) -> impl Iterator<Item = (Instant, Instant)> {
    let begins = [from].into_iter();
    let begins = begins.chain(tile.pauses.iter().map(move |(_, to)| to.unwrap_or(end)));
    let ends = tile.pauses.iter().map(|(at, _)| *at).chain([end]);
    let spans = begins.zip(ends);
    let spans = spans.map(move |(begin, until)| (begin.max(from), until.min(end)));
    spans.filter(|(begin, until)| begin < until)
}

/// Returns the time for which the tile was paused.
fn paused(tile: &TileRecord, (from, end): (Instant, Instant)) -> Duration {
    let pauses = tile.pauses.iter().map(|(begin, until)| {
        let until = until.map_or(end, |until| until.min(end));
        until.saturating_since((*begin).max(from))
    });
    pauses.fold(Duration::ZERO, |all, one| all + one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Ten pictures a second, of 360 lines, in these spans of milliseconds.
    fn tile(spans: &[(u64, u64)], pauses: &[(u64, Option<u64>)]) -> TileRecord {
        let times = spans
            .iter()
            .flat_map(|(from, to)| (*from..*to).step_by(100));
        let picture = |ms| TilePicture {
            shown_at: at(ms),
            latency: Duration::from_millis(20),
            height: 360,
            quantizer: 40,
            bytes: 1_000,
            psnr_db: 38.0,
            ssim: 0.95,
        };
        TileRecord {
            of: "other".to_owned(),
            since: at(1_000),
            until: None,
            pictures: times.map(picture).collect(),
            pauses: pauses
                .iter()
                .map(|(from, to)| (at(*from), to.map(at)))
                .collect(),
        }
    }

    fn frozen(tile: &TileRecord) -> (f64, f64) {
        let view = view(tile, (at(0), at(20_000))).expect("it is on the screen");
        let frozen = view.frozen().expect("it is known");
        (frozen.seconds, view.paused.expect("it is known"))
    }

    #[test]
    fn a_pause_is_not_a_freeze_but_the_time_around_it_is() {
        let steady = tile(&[(1_200, 20_000)], &[]);
        assert_eq!(frozen(&steady), (0.0, 0.0));
        let freezes = tile(&[(1_200, 10_000), (12_000, 20_000)], &[]);
        assert_eq!(frozen(&freezes), (2.1, 0.0));
        // The last picture arrives 0.9 s before the pause, the first one 0.5 s after it.
        let pauses = tile(
            &[(1_200, 10_000), (13_500, 20_000)],
            &[(10_800, Some(13_000))],
        );
        let (seconds, paused) = frozen(&pauses);
        assert!((seconds - 0.9).abs() < 1e-9, "{seconds}");
        assert!((paused - 2.2).abs() < 1e-9, "{paused}");
        let stays = tile(&[(1_200, 10_000)], &[(10_000, None)]);
        assert_eq!(frozen(&stays), (0.0, 10.0));
    }

    #[test]
    fn a_tile_without_pictures_is_one_freeze_and_shows_nothing_first() {
        let never = tile(&[], &[]);
        assert_eq!(frozen(&never), (19.0, 0.0));
        let seen = view(&never, (at(0), at(20_000))).expect("it is on the screen");
        assert_eq!((seen.first_picture_ms, seen.picture.height), (None, None));
        let late = view(&tile(&[(1_250, 9_000)], &[]), (at(0), at(20_000)));
        let late = late.expect("it is on the screen");
        assert_eq!(
            (late.first_picture_ms, late.picture.height),
            (Some(250.0), Some(360.0))
        );
        assert_eq!(view(&never, (at(0), at(1_000))), None, "before it is there");
    }
}
