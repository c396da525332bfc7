use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use weft_experiment::{FlowKind, FlowSetup, LinkSetup, Route, UdpSetup};
use weft_links::LinkSpec;
use weft_units::Rate;

use super::*;

/// Length of the shortest run that observes its programs.
const LENGTH: weft_units::Duration = weft_units::Duration::from_millis(600);

fn setup() -> Setup {
    let mut setup = Setup::new(LENGTH);
    let spec: LinkSpec = "rate=1mbit,delay=1ms".parse().unwrap();
    setup.links.push(LinkSetup::symmetric("line", &spec));
    let kind = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    setup
        .flows
        .push(FlowSetup::new("call", Route::forward(&[0]), kind));
    setup
}

fn job(end: End, script: &str, output: OutputFormat, exit: ExitPolicy) -> Job {
    let command = ["sh", "-c", script];
    Job {
        flow: 0,
        end,
        what: "script".to_owned(),
        command: command.map(str::to_owned).to_vec(),
        environment: Vec::new(),
        start: StartTime::Before,
        output,
        exit,
    }
}

type Played = Result<Option<(Vec<ClientLog>, f64)>, EngineError>;

fn play(jobs: Vec<Job>) -> Played {
    play_in(&setup(), jobs, false)
}

/// Plays a setup, and optionally requests a stop at once.
fn play_in(setup: &Setup, jobs: Vec<Job>, is_halted: bool) -> Played {
    let testbed = Testbed {
        command: &|_, _, program| Command::new(program),
        setup,
        halt: &|| is_halted,
    };
    testbed.play(jobs, || {})
}

/// A client that sends `own` to the other end, and reports the number that it received as
/// its RTT.
fn client(end: End, own: u32) -> Job {
    let script = format!(
        r#"echo '{{"ready":true}}'; echo '{{"signal":{own}}}'; echo '{{"state":"connected"}}'
           read -r line; other=${{line##*:}}
           echo "{{\"sample\":{{\"unix_ms\":1,\"rtt_ms\":${{other%?}}}}}}"; cat > /dev/null"#
    );
    job(end, &script, OutputFormat::Lines, ExitPolicy::Never)
}

/// Returns the error of a run with this job.
fn refused(job: Job) -> EngineError {
    let mut setup = setup();
    setup.duration = weft_units::Duration::from_secs(20);
    play_in(&setup, vec![job], false).map(|_| ()).unwrap_err()
}

#[test]
fn each_end_is_handed_what_the_other_says() {
    let jobs = vec![client(End::Sink, 7), client(End::Source, 8)];
    let (told, began_ms) = play(jobs).unwrap().unwrap();
    assert!(began_ms > 1.7e12, "milliseconds since 1970");
    let rtt = |end: End| {
        let of = told.iter().find(|told| told.end == end).unwrap();
        of.samples
            .iter()
            .filter_map(|s| s.rtt_ms)
            .collect::<Vec<f64>>()
    };
    assert_eq!((rtt(End::Sink), rtt(End::Source)), (vec![8.0], vec![7.0]));
}

#[test]
fn a_client_that_dies_is_reported_with_its_last_output() {
    let script = "echo '{\"ready\":true}'; echo 'no memory' >&2; exit 1";
    let error = refused(job(
        End::Source,
        script,
        OutputFormat::Lines,
        ExitPolicy::Never,
    ));
    let text = error.to_string();
    assert!(matches!(error, EngineError::Run(_)), "{text}");
    assert!(
        text.contains("script at the source of flow `call`"),
        "{text}"
    );
    assert!(text.contains("no memory"), "{text}");
}

#[test]
fn things_that_the_machine_lacks_are_reported_apart() {
    let script = r#"echo '{"error":"no Chromium","remedy":"install it"}'; exit 3"#;
    let error = refused(job(
        End::Sink,
        script,
        OutputFormat::Lines,
        ExitPolicy::Never,
    ));
    assert_eq!(
        error,
        EngineError::Lacking(
            "script at the sink of flow `call`: no Chromium: install it".to_owned()
        )
    );
    let mut missing = job(End::Sink, "", OutputFormat::None, ExitPolicy::WithSuccess);
    missing.command = vec!["/nowhere/program".to_owned()];
    assert!(matches!(refused(missing), EngineError::Lacking(_)));
}

#[test]
fn a_command_may_end_well_before_the_run_does_and_not_badly() {
    let well = job(
        End::Source,
        "exit 0",
        OutputFormat::None,
        ExitPolicy::WithSuccess,
    );
    assert!(play(vec![well]).unwrap().is_some());
    let badly = job(
        End::Source,
        "exit 4",
        OutputFormat::None,
        ExitPolicy::WithSuccess,
    );
    assert!(refused(badly).to_string().contains("exit status: 4"));
}

#[test]
fn a_client_hands_over_pictures_of_1080p() {
    // 1920 x 1080 bytes in Base64.
    let script = r#"echo '{"ready":true,"state":"connected"}'
        printf '{"sample":{"unix_ms":1,"received":{"picture":{"width":1920,"height":1080,"base64":"'
        head -c 2764800 /dev/zero | tr '\0' A
        echo '"}}}}'; cat > /dev/null"#;
    let (told, _) = play(vec![job(
        End::Sink,
        script,
        OutputFormat::Lines,
        ExitPolicy::Never,
    )])
    .unwrap()
    .unwrap();
    let received = told[0].samples[0].received.as_ref().unwrap();
    assert_eq!(received.picture.as_ref().unwrap().base64.len(), 2_764_800);
}

#[test]
fn a_wrong_line_is_reported_with_its_beginning() {
    let script = "head -c 9000 /dev/zero | tr '\\0' x; echo; cat > /dev/null";
    let error = refused(job(
        End::Source,
        script,
        OutputFormat::Lines,
        ExitPolicy::Never,
    ));
    assert!(error.to_string().len() < 600, "{error}");
}

#[test]
fn an_invalid_line_of_a_client_ends_the_run() {
    let script = "echo hello; cat > /dev/null";
    let error = refused(job(
        End::Source,
        script,
        OutputFormat::Lines,
        ExitPolicy::Never,
    ));
    assert!(
        error
            .to_string()
            .contains("\"hello\", which is not a line of a client")
    );
}

#[test]
fn a_stop_ends_everything_at_once() {
    // It never reports that it is ready.
    let silent = job(End::Source, "cat", OutputFormat::Lines, ExitPolicy::Never);
    assert!(play_in(&setup(), vec![silent], true).unwrap().is_none());
}

#[test]
fn a_command_is_asked_to_end_with_the_run() {
    let mut setup = setup();
    setup.duration = weft_units::Duration::from_secs(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let script = format!("trap 'echo asked > {path}/asked; exit' TERM; sleep 60 & wait");
    let command = Job {
        start: StartTime::WithFlow,
        ..job(
            End::Source,
            &script,
            OutputFormat::None,
            ExitPolicy::WithSuccess,
        )
    };
    let played = play_in(&setup, vec![command], false);
    assert!(played.unwrap().is_some());
    let said = std::fs::read_to_string(folder.path().join("asked"));
    assert_eq!(said.unwrap(), "asked\n");
}

#[test]
fn a_client_that_reports_an_error_must_end() {
    let script = r#"echo '{"ready":true}'; echo '{"error":"no camera"}'
                    while sleep 0.1; do echo '{"sample":{"unix_ms":1}}'; done"#;
    let talker = job(End::Source, script, OutputFormat::Lines, ExitPolicy::Never);
    let text = refused(talker).to_string();
    assert!(text.contains("no camera"), "{text}");
}

#[test]
fn a_command_that_ends_with_three_lacks_nothing() {
    let command = job(
        End::Source,
        "exit 3",
        OutputFormat::None,
        ExitPolicy::WithSuccess,
    );
    assert!(matches!(refused(command), EngineError::Run(_)));
}

#[test]
fn processes_of_a_command_end_with_its_flow() {
    let mut setup = setup();
    // Time for a shell to start and to react before the kill, even on a busy machine.
    setup.duration = weft_units::Duration::from_millis(2_900);
    setup.flows[0].stop = Some(weft_units::Duration::from_millis(2_000));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    // One exits when asked, the other only when killed.
    let script = format!(
        "(trap 'echo asked > {path}/willing; exit' TERM; sleep 60 & wait) & \
         (trap '' TERM; sleep 60) & echo $! > {path}/stubborn; wait"
    );
    let command = Job {
        start: StartTime::WithFlow,
        ..job(
            End::Source,
            &script,
            OutputFormat::None,
            ExitPolicy::WithSuccess,
        )
    };
    let played = play_in(&setup, vec![command], false);
    assert!(played.unwrap().is_some());
    let said = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(said("willing"), "asked\n");
    let stubborn = said("stubborn").trim().parse().unwrap();
    assert!(ends(Pid::from_raw(stubborn).unwrap()));
}

/// Whether the process exits; a killed one takes a moment.
fn ends(id: Pid) -> bool {
    /// Maximum time until a killed process exits, on a busy machine; chosen by us.
    const LONGEST: Timespec = Timespec {
        tv_sec: 10,
        tv_nsec: 0,
    };
    match pidfd_open(id, PidfdFlags::empty()) {
        Err(error) => error == Errno::SRCH,
        Ok(process) => {
            let mut end = [PollFd::new(&process, PollFlags::IN)];
            poll(&mut end, Some(&LONGEST)).unwrap() == 1
        }
    }
}
