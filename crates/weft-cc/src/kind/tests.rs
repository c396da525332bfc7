use super::*;

#[test]
fn names_survive_a_round_trip() {
    for name in [
        "gcc",
        "gcc_deployed",
        "gcc_2022",
        "gcc_draft",
        "nada",
        "scream",
        "scream_v1",
        "fixed:2mbit",
        "fixed:1500kbit",
        "fixed:1234567bit",
    ] {
        let kind: ControllerKind = name.parse().unwrap();
        assert_eq!(kind.to_string(), name);
    }
    assert_eq!("gcc-deployed".parse(), Ok(ControllerKind::GccDeployed));
    assert_eq!(
        "fixed:2.5mbit".parse(),
        Ok(ControllerKind::Fixed(Rate::from_kbps(2500)))
    );
}

#[test]
fn errors_name_the_remedy() {
    for name in ["", "bbr", "fixed", "gcc:1mbit"] {
        let error = name.parse::<ControllerKind>().unwrap_err();
        assert!(matches!(error, ControllerKindError::Unknown(_)), "{name}");
        assert!(error.to_string().contains("fixed:2mbit"), "{error}");
    }
    for rate in [
        "", "2", "0mbit", "-1kbit", "NaNbit", "infbit", "bit", "ébit",
    ] {
        let error = format!("fixed:{rate}").parse::<ControllerKind>();
        assert_eq!(error, Err(ControllerKindError::Rate(rate.to_owned())));
    }
}
