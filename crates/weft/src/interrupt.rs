//! Ctrl-C and termination.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{SIGHUP, SIGINT, SIGTERM, c_int};

type Handler = Box<dyn FnMut() + Send>;
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Calls `handler` on Ctrl-C or SIGTERM instead of ending the process at once;
/// the second time the process ends.
pub fn on_ctrl_c(handler: impl FnMut() + Send + 'static) {
    let mut slot = HANDLER.lock().expect("handlers do not panic");
    let first = slot.replace(Box::new(handler)).is_none();
    drop(slot);
    if !first {
        return;
    }
    let mut asked = false;
    // Fails only if another handler is set, which nothing here does.
    let _ = ctrlc::set_handler(move || {
        if std::mem::replace(&mut asked, true) {
            std::process::exit(130);
        }
        if let Some(handler) = HANDLER.lock().expect("handlers do not panic").as_mut() {
            handler();
        }
    });
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
/// there to be [`asked`] for. Programs that it starts have none of this. A
/// SIGHUP that is ignored (nohup(1)) stays so.
pub fn note_signals() {
    let handler = note as extern "C" fn(c_int) as libc::sighandler_t;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // SAFETY: the handler does nothing but use an atomic number.
        let before = unsafe { libc::signal(signal, handler) };
        if signal == SIGHUP && before == libc::SIG_IGN {
            // SAFETY: as it was.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
}

/// The signal that was noted, if any.
pub fn asked() -> Option<c_int> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
