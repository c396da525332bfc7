mod hostile;
mod media;
mod net;
mod paths;

use super::*;
