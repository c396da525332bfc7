use std::fmt;

use weft_units::Instant;

use crate::{Controller, Limits};

/// Function that creates a controller for one path.
pub type MakeController = Box<dyn Fn(Limits, Instant) -> Box<dyn Controller> + Send + Sync>;

/// Controller that the embedding program defines and names.
pub struct CustomController {
    name: String,
    make: MakeController,
}

impl CustomController {
    /// Creates a controller with this name.
    #[must_use]
    pub fn new(name: String, make: MakeController) -> CustomController {
        CustomController { name, make }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn build(&self, limits: Limits, now: Instant) -> Box<dyn Controller> {
        (self.make)(limits.ordered(), now)
    }
}

/// Two values are equal only if they are the same object.
impl PartialEq for CustomController {
    fn eq(&self, other: &CustomController) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CustomController {}

impl fmt::Debug for CustomController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomController").field(&self.name).finish()
    }
}
