//! Ctrl-C and termination.

use std::sync::Mutex;

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

/// Leaves Ctrl-C to the program that was started at the same terminal, which
/// gets it too: this process goes on.
pub fn leave_ctrl_c_to_the_program() {
    // As above.
    let _ = ctrlc::set_handler(|| {});
}
