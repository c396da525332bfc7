use super::*;

/// Returns a run with one publisher of 360p and two viewers.
pub(crate) fn config() -> LoadConfig {
    LoadConfig {
        target: Target::Room {
            url: "http://127.0.0.1:1".into(),
        },
        token: None,
        trust: Trust::Public,
        rooms: 1,
        room: "load".into(),
        people: People {
            publishers: 1,
            viewers: 2,
            everybody: false,
        },
        arrival: Arrival::PerSecond(10.0),
        weak: None,
        video: Video {
            codec: Codec::Vp8,
            height: 360,
            fps: 30,
            rate: Rate::from_kbps(500),
            encodings: 1,
        },
        sound: Sound::Off,
        clients: Clients::Browser,
        duration: Duration::from_secs(1),
        threads: 1,
        server_pid: None,
        metrics: None,
    }
}

fn refused(change: impl FnOnce(&mut LoadConfig)) -> String {
    let mut config = config();
    change(&mut config);
    config.check().expect_err("it is wrong").to_string()
}

#[test]
fn wrong_values_name_their_option() {
    config().check().expect("it is right");
    assert!(refused(|c| c.people.publishers = 0).contains("--publishers"));
    assert!(refused(|c| c.video.height = 721).contains("--size 721p"));
    assert!(refused(|c| c.video.fps = 0).contains("--fps 0"));
    assert!(refused(|c| c.video.encodings = 4).contains("--encodings 4"));
    let weak = Weak {
        count: 3,
        rate: Rate::from_kbps(600),
    };
    assert!(refused(|c| c.weak = Some(weak)).contains("only 2"));
    let everybody = |publishers| People {
        publishers,
        viewers: 0,
        everybody: true,
    };
    assert!(refused(|c| c.people = everybody(1)).contains("--people 2"));
    let endpoints = || Target::Endpoints {
        whip: "http://host/{publisher}/whip".into(),
        whep: "http://host/whep".into(),
    };
    let error = refused(|c| (c.target, c.people) = (endpoints(), everybody(3)));
    assert!(error.contains("--people needs"), "{error}");
    let error = refused(|c| (c.target, c.rooms) = (endpoints(), 2));
    assert!(error.contains("--whep http://host/whep"), "{error}");
}

#[test]
fn rooms_have_numbers_if_there_are_several() {
    let mut config = config();
    assert_eq!(config.room_name(0), "load");
    config.rooms = 2;
    let address = config.address("http://host/{room}/{publisher}", 1, "p");
    assert_eq!(address, "http://host/load-2/p");
}
