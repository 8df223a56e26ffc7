//! The views, one per element.

pub mod rung;
