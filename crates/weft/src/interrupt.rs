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

/// Calls `handler` on the first Ctrl-C, SIGTERM or SIGHUP; the second one ends
/// the process, together with its programs in emulated networks. An ignored
/// SIGHUP (nohup(1)) stays ignored.
pub fn on_ctrl_c(handler: impl FnMut() + Send + 'static) {
    let mut slot = HANDLER.lock().expect("handlers do not panic");
    let first = slot.replace(Box::new(handler)).is_none();
    drop(slot);
    if !first {
        return;
    }
    let mut asked = false;
    but_for_ignored_hang_ups(|| {
        // Fails only if another handler is set, which cannot happen here.
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

/// Maximum time from the signal to the end of the process. Chosen by us.
const TO_END: Duration = Duration::from_millis(900);

/// Exits with this status after `delay` plus the time for ending, unless the process has
/// exited by then: a blocked server, disk or terminal cannot keep it alive.
pub fn end_after(delay: Duration, status: i32) {
    thread::spawn(move || {
        thread::sleep(delay + TO_END);
        std::process::exit(status);
    });
}

/// SIGHUP for a program that reloads its files. The signal is blocked until a handler
/// takes it.
pub struct HangUps {
    set: libc::sigset_t,
    had_terminal: bool,
}

/// Terminal that a SIGHUP may have come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// The terminal was closed: the program should end.
    Gone,
    /// The terminal is open, or never existed: another program sent the signal.
    There,
}

impl HangUps {
    /// Blocks SIGHUP for this thread and the threads that it starts later.
    pub fn hold() -> HangUps {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialised before use, and only used here.
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
                // SAFETY: both pointers are valid, and the set contains SIGHUP
                // only.
                if unsafe { libc::sigwait(&raw const self.set, &raw mut signal) } != 0 {
                    return;
                }
                // A closed terminal no longer counts as a terminal.
                handler(match self.had_terminal && !stderr().is_terminal() {
                    true => Terminal::Gone,
                    false => Terminal::There,
                });
            }
        });
    }
}

/// Flag that Ctrl-C sets.
pub fn flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    on_ctrl_c(move || asked.store(true, Ordering::Relaxed));
    stop
}

/// First termination signal of this process, or zero; other signals override SIGINT.
static ASKED: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    match signal {
        SIGINT => drop(ASKED.compare_exchange(0, SIGINT, Ordering::Relaxed, Ordering::Relaxed)),
        _ => ASKED.store(signal, Ordering::Relaxed),
    }
}

/// Records SIGINT, SIGTERM and SIGHUP for [`asked`] from now on, instead of ending the
/// process. Child programs do not inherit this.
pub fn note_signals() {
    let handler = note as extern "C" fn(c_int) as libc::sighandler_t;
    but_for_ignored_hang_ups(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // SAFETY: the handler only accesses an atomic number.
            unsafe { libc::signal(signal, handler) };
        }
    });
}

/// Runs `set` to install handlers, but preserves an inherited "ignore" of SIGHUP.
fn but_for_ignored_hang_ups(set: impl FnOnce()) {
    // SAFETY: replacing the disposition is the only way to learn the old one; a SIGHUP
    // before the handlers are set is ignored.
    let before = unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
    set();
    if before == libc::SIG_IGN {
        // SAFETY: restores the old disposition.
        unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
    }
}

/// Returns the recorded signal, if any.
pub fn asked() -> Option<c_int> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
