//! What the readouts know, without a browser.

pub mod present;
pub mod race;
pub mod round_trip;
pub mod rung;
pub mod staged;
