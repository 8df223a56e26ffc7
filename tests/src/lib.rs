//! Helpers shared by the tests in this folder.

pub mod browser;
pub mod dialogue;
pub mod driver;
pub mod element;
pub mod html;
pub mod site;
pub mod tools;
pub mod wires;
