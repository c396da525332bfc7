use super::*;

#[test]
fn what_somebody_publishes_is_told_camera_by_camera() {
    let named = |name: &str| Camera {
        name: Some(name.to_owned()),
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
fn what_somebody_publishes_is_read_camera_by_camera() {
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
