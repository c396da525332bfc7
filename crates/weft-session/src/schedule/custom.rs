use std::fmt;

use super::Scheduler;

/// Function that creates a scheduler for one end of a call.
pub type MakeScheduler = Box<dyn Fn() -> Box<dyn Scheduler> + Send + Sync>;

/// Scheduler that the embedding program defines under its own name.
pub struct CustomScheduler {
    name: String,
    make: MakeScheduler,
}

impl CustomScheduler {
    /// Creates a scheduler with this name.
    #[must_use]
    pub fn new(name: String, make: MakeScheduler) -> CustomScheduler {
        CustomScheduler { name, make }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        (self.make)()
    }
}

/// Two values are equal only if they are the same object.
impl PartialEq for CustomScheduler {
    fn eq(&self, other: &CustomScheduler) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CustomScheduler {}

impl fmt::Debug for CustomScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomScheduler").field(&self.name).finish()
    }
}
