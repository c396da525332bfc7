//! Link models compared with theory and their specifications.

mod codel;
mod droptail;
mod dualpi2;
mod fq_codel;
mod pie;
mod world;
