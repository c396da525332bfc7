//! Cameras on a person's screen.

use weft_forwarding::ViewedCamera;

use super::person::Person;

/// Returns the numbers of all other people whose camera is on, with their tiles. The
/// first of `speakers` among them gets the first tile.
pub(super) fn on_screen(
    people: &[Person],
    viewer: usize,
    speakers: [Option<usize>; 2],
) -> (Vec<usize>, Vec<ViewedCamera>) {
    let seen = |(number, person): &(usize, &Person)| person.is_seen() && *number != viewer;
    let others = people.iter().enumerate().filter(seen);
    let mut others: Vec<usize> = others.map(|(number, _)| number).collect();
    let mut speakers = speakers.iter().flatten();
    let large = speakers.find_map(|speaker| others.iter().position(|o| o == speaker));
    if let Some(large) = large {
        others[..=large].rotate_right(1);
    }
    let sizes = people[viewer].setup.screen.tiles(others.len());
    let camera = |(place, other): (usize, &usize)| {
        let (width, height) = sizes[place.min(1)];
        ViewedCamera {
            participant: people[*other].name.clone(),
            camera: 0,
            width,
            height,
        }
    };
    let cameras = others.iter().enumerate().map(camera).collect();
    (others, cameras)
}
