//! Helpers shared by the tests in this folder.

pub mod browser;
pub mod cases;
pub mod site;
