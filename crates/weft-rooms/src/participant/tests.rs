use super::*;

#[test]
fn publications_are_announced_camera_by_camera() {
    let named = |name: &str| Camera {
        name: Some(name.to_owned()),
        ..Camera::default()
    };
    let publishing = Publishing {
        cameras: vec![named("Front"), Camera::default()],
        audio: true,
    };
    let told = serde_json::to_string(&publishing).unwrap();
    let expected = r#"{"video":true,"audio":true,"cameras":[{"name":"Front"},{}]}"#;
    assert_eq!(told, expected);
    let nothing = serde_json::to_string(&Publishing::default()).unwrap();
    assert_eq!(nothing, r#"{"video":false,"audio":false,"cameras":[]}"#);
}

#[test]
fn more_is_a_stream_that_was_not_there() {
    let of = |cameras, audio| Publishing {
        cameras: vec![Camera::default(); cameras],
        audio,
    };
    assert!(of(1, true).has_more_than(&of(0, true)));
    assert!(of(1, false).has_more_than(&of(0, true)));
    assert!(of(2, true).has_more_than(&of(1, true)));
    assert!(!of(0, true).has_more_than(&of(1, true)));
    assert!(!of(2, true).has_more_than(&of(2, true)));
}

#[test]
fn publications_are_read_camera_by_camera() {
    let text = r#"{"video":true,"audio":false,"cameras":[{"name":"Front"},{}]}"#;
    let publishing: Publishing = serde_json::from_str(text).expect("it can be read");
    let names: Vec<Option<&str>> = publishing
        .cameras
        .iter()
        .map(|c| c.name.as_deref())
        .collect();
    assert_eq!(names, [Some("Front"), None]);
    assert!(!publishing.is_nothing());
}

#[test]
fn the_shown_name_is_the_sanitised_one() {
    let named = |typed| Camera::called(typed).name;
    assert_eq!(
        named("Rear\u{202e}tfel\u{2028}\n").as_deref(),
        Some("Reartfel")
    );
    // Joiners inside emoji or words are kept.
    assert_eq!(
        named("👩\u{200d}💻 می\u{200c}خواهم").as_deref(),
        Some("👩\u{200d}💻 می\u{200c}خواهم")
    );
    assert_eq!(named("\u{2067}"), None);
    let text = r#"{"name": "LTE\u202e", "state": "up"}"#;
    let mut link: LinkReport = serde_json::from_str(text).expect("it can be read");
    link.shorten();
    assert_eq!(link.name, "LTE");
}

#[test]
fn a_camera_that_is_off_keeps_its_place_before_a_screen() {
    let screen = Camera {
        screen: true,
        ..Camera::default()
    };
    let negotiated = Publishing {
        cameras: vec![Camera::default(), screen],
        audio: true,
    };
    let told = |video, screen| {
        let enabled = Enabled {
            video,
            audio: false,
            screen,
        };
        serde_json::to_string(&negotiated.enabled(enabled).cameras).unwrap()
    };
    assert_eq!(told(true, false), "[{}]");
    assert_eq!(told(true, true), r#"[{},{"screen":true}]"#);
    assert_eq!(told(false, true), r#"[{"off":true},{"screen":true}]"#);
    assert_eq!(told(false, false), "[]");
    let shown = negotiated.enabled(Enabled::AT_FIRST);
    assert_eq!((shown.cameras.len(), shown.audio), (1, true));
}
