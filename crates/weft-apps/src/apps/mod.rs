//! The applications: a file of parameters for each. A comment at each parameter gives its
//! origin: *published* in the study or another paper,
//! *source* of public code, *fitted* to a figure, or *chosen* by us.

pub(crate) mod eyebeam;
pub(crate) mod live_messenger;
pub(crate) mod signal;
pub(crate) mod skype;
pub(crate) mod telegram;
pub(crate) mod whatsapp;
pub(crate) mod x_lite;
pub(crate) mod zoom;

#[cfg(test)]
mod tests;
