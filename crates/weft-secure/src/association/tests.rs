mod hostile;
mod media;
mod net;
mod paths;

use super::*;
use crate::{Certificate, DtlsRole, IceRole, LinkId};
use weft_units::{Duration, Rng};
