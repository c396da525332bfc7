//! Camera of the demo, which pauses while it has no visitor.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use weft_media::{Camera, CameraError, Captured, Format, Pace};

/// Opens and closes a camera. Clones control the same one.
#[derive(Clone)]
pub struct Shutter(Arc<Inner>);

struct Inner {
    open: Mutex<bool>,
    changed: Condvar,
}

/// Camera that waits while its shutter is closed.
struct Shuttered {
    camera: Box<dyn Camera>,
    shutter: Shutter,
}

impl Shutter {
    /// Puts an open shutter in front of a camera.
    pub fn before(camera: Box<dyn Camera>) -> (Shutter, Box<dyn Camera>) {
        let shutter = Shutter(Arc::new(Inner {
            open: Mutex::new(true),
            changed: Condvar::new(),
        }));
        let camera = Shuttered {
            camera,
            shutter: shutter.clone(),
        };
        (shutter, Box::new(camera))
    }

    pub fn set_open(&self, open: bool) {
        *self.lock() = open;
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.open.lock().expect("nobody panics with the shutter")
    }

    fn wait(&self) {
        let open = self.lock();
        let open = self.0.changed.wait_while(open, |open| !*open);
        drop(open.expect("nobody panics with the shutter"));
    }
}

impl Camera for Shuttered {
    fn format(&self) -> Format {
        self.camera.format()
    }

    fn pace(&self) -> Pace {
        self.camera.pace()
    }

    fn capture(&mut self) -> Result<Captured, CameraError> {
        self.shutter.wait();
        self.camera.capture()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use weft_media::CameraSpec;

    use super::*;

    #[test]
    fn a_closed_shutter_lets_no_picture_through() {
        let spec: CameraSpec = "clip:64x48".parse().unwrap();
        let (shutter, mut camera) = Shutter::before(spec.open().unwrap());
        assert!(camera.capture().is_ok());
        shutter.set_open(false);
        let (taken, pictures) = channel();
        let taking = thread::spawn(move || taken.send(camera.capture().is_ok()));
        let while_closed = pictures.recv_timeout(Duration::from_millis(100));
        assert_eq!(while_closed, Err(RecvTimeoutError::Timeout));
        shutter.set_open(true);
        assert_eq!(pictures.recv(), Ok(true));
        taking.join().unwrap().unwrap();
    }
}
