//! Ctrl-C and termination.

use std::io::{IsTerminal, stderr};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use libc::{SIGHUP, SIGINT, SIGTERM, c_int};

type Handler = Box<dyn FnMut() + Send>;
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Calls `handler` on Ctrl-C, SIGTERM or SIGHUP instead of ending the process
/// at once; the second time the process ends, with what it runs in emulated
/// networks. A SIGHUP that is ignored (nohup(1)) stays so.
pub fn on_ctrl_c(handler: impl FnMut() + Send + 'static) {
    let mut slot = HANDLER.lock().expect("handlers do not panic");
    let first = slot.replace(Box::new(handler)).is_none();
    drop(slot);
    if !first {
        return;
    }
    let mut asked = false;
    but_for_ignored_hang_ups(|| {
        // Fails only if another handler is set, which nothing here does.
        let _ = ctrlc::set_handler(move || {
            if std::mem::replace(&mut asked, true) {
                weft_emu::end_all_programs();
                std::process::exit(130);
            }
            if let Some(handler) = HANDLER.lock().expect("handlers do not panic").as_mut() {
                handler();
            }
        });
    });
}

/// Longest time from the request to end until the process ends. Chosen by us.
const TO_END: Duration = Duration::from_millis(900);

/// Ends the process with this status after `delay` and what ending takes, if it
/// has not ended by itself: a server that hangs, a disk or a terminal that takes
/// nothing cannot keep it.
pub fn end_after(delay: Duration, status: i32) {
    thread::spawn(move || {
        thread::sleep(delay + TO_END);
        std::process::exit(status);
    });
}

/// SIGHUP for a program that reads its files again: held back, until somebody
/// takes it.
pub struct HangUps {
    set: libc::sigset_t,
    had_terminal: bool,
}

/// The terminal that a SIGHUP may have come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// It was closed: the program should end.
    Gone,
    /// It is there, or there never was one: somebody sent the signal.
    There,
}

impl HangUps {
    /// Holds SIGHUP back from this thread and those that it starts from now on.
    pub fn hold() -> HangUps {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is made empty before it is used, and only used here.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), SIGHUP);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            set.assume_init()
        };
        let had_terminal = stderr().is_terminal();
        HangUps { set, had_terminal }
    }

    /// Calls `handler` on another thread for each SIGHUP.
    pub fn take(self, mut handler: impl FnMut(Terminal) + Send + 'static) {
        thread::spawn(move || {
            loop {
                let mut signal = 0;
                // SAFETY: both are valid, and the set holds SIGHUP only.
                if unsafe { libc::sigwait(&raw const self.set, &raw mut signal) } != 0 {
                    return;
                }
                // A terminal that was closed is none any more.
                handler(match self.had_terminal && !stderr().is_terminal() {
                    true => Terminal::Gone,
                    false => Terminal::There,
                });
            }
        });
    }
}

/// Becomes true with Ctrl-C.
pub fn flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    on_ctrl_c(move || asked.store(true, Ordering::Relaxed));
    stop
}

/// The first of the signals that asked this process to end, or zero; SIGINT
/// gives way to the others.
static ASKED: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    match signal {
        SIGINT => drop(ASKED.compare_exchange(0, SIGINT, Ordering::Relaxed, Ordering::Relaxed)),
        _ => ASKED.store(signal, Ordering::Relaxed),
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP do not end the process, but are
/// there to be [`asked`] for. Programs that it starts have none of this.
pub fn note_signals() {
    let handler = note as extern "C" fn(c_int) as libc::sighandler_t;
    but_for_ignored_hang_ups(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // SAFETY: the handler does nothing but use an atomic number.
            unsafe { libc::signal(signal, handler) };
        }
    });
}

/// Sets handlers, but none for a SIGHUP that nobody here asked to ignore.
fn but_for_ignored_hang_ups(set: impl FnOnce()) {
    // SAFETY: what it was is known only when it is replaced; until handlers
    // are set, one that comes is ignored.
    let before = unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
    set();
    if before == libc::SIG_IGN {
        // SAFETY: as it was.
        unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
    }
}

/// The signal that was noted, if any.
pub fn asked() -> Option<c_int> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
