use super::*;

fn parse(text: &str) -> NamedCamera {
    text.parse().expect("it can be read")
}

fn check_all(texts: &[&str]) -> Result<(), CamerasError> {
    check(&texts.iter().map(|t| parse(t)).collect::<Vec<_>>())
}

#[test]
fn a_camera_may_have_a_name_in_front() {
    let named = parse("Rear window=clip:360p");
    assert_eq!(named.name.as_deref(), Some("Rear window"));
    assert_eq!(named.spec, "clip:360p".parse().unwrap());
    assert_eq!(parse("/dev/video0").name, None);
    let path = parse("./a=b.y4m");
    assert_eq!(path.name, None);
    assert_eq!(path.spec, CameraSpec::File("./a=b.y4m".into()));
    for bad in ["=clip", "front=", "front=nothing", "\u{7}=clip"] {
        assert!(bad.parse::<NamedCamera>().is_err(), "{bad}");
    }
}

#[test]
fn four_cameras_are_a_call_and_a_fifth_is_refused_with_what_to_do() {
    assert_eq!(check_all(&["clip"; 4]), Ok(()));
    let words = check_all(&["clip"; 5]).unwrap_err().to_string();
    assert!(words.contains("5 cameras") && words.contains("at most 4"));
    assert!(words.contains("remove some"), "{words}");
}

#[test]
fn one_device_under_two_paths_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("camera");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let device = |path: &str| NamedCamera {
        name: None,
        spec: CameraSpec::Device {
            path: path.into(),
            width: 640,
            height: 360,
            fps: 30,
        },
    };
    let linked = device(link.to_str().unwrap());
    let error = check(&[device("/dev/null"), parse("clip"), linked]).unwrap_err();
    assert!(matches!(&error, CamerasError::SameDevice { device, .. } if device == "/dev/null"));
    assert!(error.to_string().contains("remove one"));
    assert_eq!(check_all(&["/dev/video0", "/dev/video1"]), Ok(()));
    assert!(check_all(&["/dev/video0:360p", "/dev/video0:720p"]).is_err());
}

#[test]
fn a_name_is_one_cameras() {
    let twice = check_all(&["a=clip", "b=clip", "a=clip"]);
    assert_eq!(twice, Err(CamerasError::SameName("a".to_owned())));
}
