mod handshake;
mod hostile;
mod media;
mod net;

use super::*;
use crate::{Certificate, DtlsRole};
use weft_ice::IceRole;
use weft_units::{FiveTuple, Rng};
