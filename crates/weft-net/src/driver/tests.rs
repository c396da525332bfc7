use super::*;
use std::time::Duration as StdDuration;
use weft_units::FiveTuple;

enum Order {
    /// Blocks the thread, without using its processor, until the other end of
    /// the channel is dropped, or for this long.
    Block(Receiver<()>, StdDuration),
    /// Keeps the thread busy for this long.
    Work(StdDuration),
    /// Requests the number of turns so far, and the load.
    Tell(Sender<(u64, Load)>),
    Stop,
}

#[derive(Default)]
struct Worker {
    turns: u64,
}

impl Node for Worker {
    type Command = Order;

    fn handle_datagram(&mut self, _: Instant, _: FiveTuple, _: Ecn, _: &[u8]) {}

    fn handle_command(&mut self, network: &mut Network<'_>, order: Order) {
        match order {
            Order::Block(gate, most) => drop(gate.recv_timeout(most)),
            Order::Work(span) => {
                let start = std::time::Instant::now();
                while start.elapsed() < span {
                    std::hint::spin_loop();
                }
            }
            Order::Tell(asker) => asker
                .send((self.turns, network.load()))
                .expect("the test waits"),
            Order::Stop => network.stop(),
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn handle_timeout(&mut self, _: &mut Network<'_>) {
        self.turns += 1;
    }

    fn send(&mut self, _: &mut Network<'_>) {}
}

/// Load of the driver after a command of slightly more than a second.
fn load_after(order: Order) -> Load {
    let driver = Driver::run("test", Clock::start(), Vec::new(), Worker::default()).unwrap();
    driver.remote.send(order);
    let (asker, answer) = channel();
    let ask = || {
        driver.remote.send(Order::Tell(asker.clone()));
        answer.recv().unwrap()
    };
    // The load is measured at the end of the turn with the command.
    let (turn, _) = ask();
    let load = loop {
        let (turns, load) = ask();
        if turns > turn {
            break load;
        }
    };
    driver.remote.send(Order::Stop);
    driver.join().unwrap();
    load
}

const BIT_MORE: StdDuration = StdDuration::from_millis(1_050);

#[test]
fn a_driver_that_is_kept_from_its_processor_is_not_busy() {
    let (_gate, closed) = channel();
    let load = load_after(Order::Block(closed, BIT_MORE));
    assert!(load.busy < 0.2, "{load:?}");
}

#[test]
fn a_driver_that_works_is_busy() {
    let load = load_after(Order::Work(BIT_MORE));
    // Other processes may use the processor for part of it.
    assert!(load.busy > 0.1 && load.busy <= 1.01, "{load:?}");
}

/// Senders and the loop race for the moment at which the loop goes to sleep.
#[test]
fn no_command_waits_while_the_loop_sleeps() {
    let driver = Driver::run("test", Clock::start(), Vec::new(), Worker::default()).unwrap();
    let (asker, answers) = channel();
    for round in 0..20_000 {
        driver.remote.send(Order::Tell(asker.clone()));
        let answer = answers.recv_timeout(StdDuration::from_secs(10));
        assert!(answer.is_ok(), "command {round} was not handled");
    }
    driver.remote.send(Order::Stop);
    driver.join().unwrap();
}
