//! What the readouts know, without a browser.

pub mod address;
pub mod bench;
pub mod desk;
pub mod diff;
pub mod kind;
pub mod listing;
pub mod model;
pub mod present;
pub mod race;
pub mod round_trip;
pub mod rung;
pub mod scene;
pub mod served;
pub mod shown;
pub mod staged;
pub mod stages;
pub mod walk;
