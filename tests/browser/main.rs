//! The pages in a real browser.

mod rung;
